"""Decide each object that Karmada's policies steer."""
