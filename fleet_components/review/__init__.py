"""The review of a change: a directory or a project is planned, the plan becomes a document, the
document is shown.

``planning`` plans what the command line names, ``documents`` turns a plan into JSON-like documents,
``showing`` prints documents as tables, trees and Markdown, ``rendering`` writes the manifests of
each member.
"""
