"""Scheduling: decides which members get which objects, with one framework and a profile per
upstream system.
"""
