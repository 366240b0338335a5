"""The Pulumi layer: components to build programs from."""
