"""The two systems whose decisions are carried out: all that is known of KubeFleet, and all that is
known of Karmada.

Each has the same parts, from its kinds to what its hub shows. Neither imports the other.
"""
