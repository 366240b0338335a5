"""Statuses of templates and their bindings, as a control plane of Karmada has them."""
