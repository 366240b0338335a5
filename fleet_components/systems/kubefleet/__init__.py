"""All that is known of KubeFleet and Azure Kubernetes Fleet Manager.

``model``: its kinds and releases. ``admission``: its webhooks. ``content``: its overrides.
``scheduler``: its plug-ins. ``plan``: what a placement sends and keeps. ``hub``: what a hub holds
and means. ``status``: what it shows.
"""
