"""Changes that Karmada makes to an object on its way to a member: overrides, replicas,
dependencies.
"""
