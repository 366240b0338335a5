"""Rolling updates, update runs and evictions, as the controllers of KubeFleet carry them out."""
