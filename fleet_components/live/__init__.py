"""Hubs and members as they are: requests to their API servers that bypass the engine and its
Kubernetes provider.
"""
