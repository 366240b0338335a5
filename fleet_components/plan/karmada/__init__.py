"""What is decided for each object template of a fleet that Karmada's policies steer."""
