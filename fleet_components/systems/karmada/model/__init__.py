"""Values of Karmada: policies, members, settings, and what is remembered of templates."""
