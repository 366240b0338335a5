"""Content of a fleet: reads and builds objects, selects what a placement places, and prepares it
for each member.
"""
