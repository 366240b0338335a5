"""A first fleet of one's own, and the workflow that reviews its pull requests."""
