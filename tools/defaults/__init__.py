"""The defaults of built-in kinds, from an API server."""
