"""Scripts for those who develop the package."""
