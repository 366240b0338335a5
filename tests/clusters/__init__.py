"""What is delivered and what is written for a hub, as real API servers judge it; the CLI of Pulumi is not needed."""
