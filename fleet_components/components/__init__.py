"""Pulumi components that programs are built from: a fleet, its members, and what is delivered to
them.
"""
