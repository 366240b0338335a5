"""Runs vector files of outcomes measured on the real systems: ``python -m tests.conformance FILE...``."""
