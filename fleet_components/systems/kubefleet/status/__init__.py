"""What a hub of KubeFleet says of placements, update runs and evictions."""
