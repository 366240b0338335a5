"""Statuses of placements and templates, derived from what was decided and what is known of the
members.
"""
