"""All that is known of Karmada.

``model``: its kinds and releases. ``admission``: its webhooks. ``content``: overrides, pruning,
health and replicas.
``scheduler``: its plug-ins and its detector. ``plan``: what a template sends and keeps. ``hub``:
what a control plane holds and means. ``status``: what it shows.
"""
