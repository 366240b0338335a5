"""What Karmada does to objects on their way to a member: overrides, replicas, dependencies."""
