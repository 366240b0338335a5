"""The files that are written, as templates that come with the package."""

from __future__ import annotations

import string
from importlib.resources import files

_FOLDER = files("fleet_components.starting") / "templates"


class Template(string.Template):
    """A text with places like ``%{name}``: a dollar belongs to the shell and to the CI systems."""

    delimiter = "%"

    def text(self, **values: str) -> str:
        """Return the text with the values in their places; each place needs one."""
        return self.substitute(values)


def template(name: str) -> Template:
    """Return the template of a file, by its name."""
    return Template(_FOLDER.joinpath(name).read_text(encoding="utf-8"))
