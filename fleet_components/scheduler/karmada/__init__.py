"""Karmada: PropagationPolicy and ClusterPropagationPolicy."""
