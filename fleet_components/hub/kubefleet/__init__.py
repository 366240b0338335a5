"""Reads a KubeFleet hub."""
