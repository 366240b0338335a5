"""Puts scheduling, contents and rollout together: what is decided for each placement of a fleet."""
