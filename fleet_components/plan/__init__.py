"""Plan a fleet: combine scheduling, contents and rollout into decisions for each placement and
template.
"""
