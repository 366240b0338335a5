"""A document in the form that a command line asks for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fleet_components.content.wire import to_json, to_yaml
from fleet_components.review.documents.wire import as_data
from fleet_components.review.showing.blocks import Page
from fleet_components.review.showing.markdown import to_markdown
from fleet_components.review.showing.terminal import printed


def in_form(form: str, document: Any, view: Callable[[], Page]) -> str:
    """Return a document as text.

    Args:
        form: ``json``, ``yaml``, ``markdown``, or another one for a terminal.
        document: the document, for programs.
        view: returns what people are shown of it.
    """
    match form:
        case "json":
            return to_json(as_data(document))
        case "yaml":
            return to_yaml(as_data(document))
        case "markdown":
            return to_markdown(view())
    return printed(view().blocks)
