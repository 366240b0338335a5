"""Control planes of Kubernetes on this machine, for tests and to play with; ``controlplane/`` is
their source.
"""
