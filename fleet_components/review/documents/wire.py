"""Documents as text: JSON, and YAML that kubectl reads as the same values."""

from __future__ import annotations

import json
from typing import Any

import yaml

from fleet_components.content.scalar import plain

_Base: Any = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
_WIDE = 2**30


def to_json(document: Any) -> str:
    """Return indented JSON with a final newline."""
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def to_yaml(*documents: Any, sort: bool = False) -> str:
    """Return YAML documents in block style; lines are never wrapped, and anchors are not used."""
    text: str = yaml.dump_all(
        documents,
        Dumper=_Dumper,
        sort_keys=sort,
        default_flow_style=False,
        allow_unicode=True,
        width=_WIDE,
        explicit_start=len(documents) > 1,
    )
    return text


class _Dumper(_Base):  # type: ignore[misc]
    """Dumper that quotes text which kubectl, unlike PyYAML, would not read as text."""

    def ignore_aliases(self, _data: Any) -> bool:
        return True


def _text(dumper: Any, text: str) -> Any:
    style = "|" if "\n" in text else '"' if _is_ambiguous(text) else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


def _is_ambiguous(text: str) -> bool:
    try:
        return plain(text) is not text
    except ValueError:
        return True


_Dumper.add_representer(str, _text)
