"""What Karmada's validating webhooks check, beyond the structure."""
