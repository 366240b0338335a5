"""Objects as YAML to be read and edited by people: a text is quoted where some reader takes it for something else."""

from __future__ import annotations

import re
from typing import Any

import yaml

_PLAIN = re.compile(r"(~/)?[A-Za-z/]([A-Za-z0-9_./:@-]*[A-Za-z0-9_/])?")
_WORDS = {"y", "n", "yes", "no", "on", "off", "true", "false", "null"}


class _Dumper(yaml.SafeDumper):
    """Writes texts as :func:`to_yaml` says."""


def _text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    plain = _PLAIN.fullmatch(text) and text.lower() not in _WORDS
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=None if plain else '"')


_Dumper.add_representer(str, _text)


def to_yaml(data: Any) -> str:
    """Return data as YAML, in the order in which they are given."""
    text = yaml.dump(data, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=1000)
    assert isinstance(text, str)
    return text
