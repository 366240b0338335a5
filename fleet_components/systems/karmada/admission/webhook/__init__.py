"""Checks of Karmada's validating webhooks beyond the structure."""
