"""Reads a Karmada control plane."""
