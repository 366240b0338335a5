"""Values of KubeFleet and Azure Kubernetes Fleet Manager: policies, members, and what is remembered
of placements.
"""
