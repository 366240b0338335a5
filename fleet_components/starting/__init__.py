"""What somebody starts with: a small fleet of one's own, and the workflow that reviews its pull requests."""
