"""Views of documents for people: tables and trees for terminals, Markdown for pull requests."""
