"""Decides which members get what: one framework, a profile for KubeFleet and one for Karmada."""
