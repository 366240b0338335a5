"""Clusters without an agent: what the agents of KubeFleet and Karmada would tell a hub of them."""
