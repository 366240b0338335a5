"""Components of a fleet on Azure; :mod:`fleet_components.azure` exports their public names."""
