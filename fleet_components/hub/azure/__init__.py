"""A fleet of Azure Fleet Manager as the resource API tells it: members, update runs, what begins
them. Asks nothing.
"""
