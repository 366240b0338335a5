"""A fleet on Azure, as components; :mod:`fleet_components.azure` has their public names."""
