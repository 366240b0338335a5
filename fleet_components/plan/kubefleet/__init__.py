"""What is decided for each KubeFleet placement of a fleet."""
