"""Changes that KubeFleet makes to an object on its way to a member: overrides."""
