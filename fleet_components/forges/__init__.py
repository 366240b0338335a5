"""GitHub, GitLab and Azure DevOps: the one comment of a review on a pull request."""
