"""What a control plane of Karmada says of templates and their bindings."""
