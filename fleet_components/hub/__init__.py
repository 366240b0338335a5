"""A hub as it is read: its members, what it is asked for, and what it has decided. Nothing here
makes a request.
"""
