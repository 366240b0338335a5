"""Decide each KubeFleet placement of a fleet."""
