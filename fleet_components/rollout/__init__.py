"""Rollout: one pass of the real controller, and the layout of whole updates in advance. Free of I/O
and clocks.
"""
