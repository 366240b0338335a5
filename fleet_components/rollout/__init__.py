"""Rollout: one pass of the real controller, and whole updates laid out beforehand. No I/O, no clock."""
