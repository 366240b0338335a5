"""Statuses of placements, update runs and evictions, as a hub of KubeFleet has them."""
