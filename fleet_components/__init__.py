"""Decide, preview and deliver Kubernetes objects to a fleet of clusters."""
