"""Documents as text: JSON, and YAML that kubectl reads as the same values."""

from __future__ import annotations

import json
from functools import lru_cache
from typing import Any

import yaml

from fleet_components.content.scalar import plain
from fleet_components.content.secret import SecretText
from fleet_components.model.text import could_command

# libyaml is much faster, and not in every build of PyYAML.
_Base: Any = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
_WIDE = 2**30
_LAYOUT = str.maketrans("", "", "\n\t")


def to_json(document: Any) -> str:
    """Return indented JSON with a final newline."""
    return escaped(json.dumps(document, indent=2, ensure_ascii=False)) + "\n"


def to_yaml(*documents: Any, sort: bool = False) -> str:
    """Return YAML documents in block style; lines are never wrapped, and anchors are not used."""
    text: str = yaml.dump_all(
        documents,
        Dumper=_KubectlDumper,
        sort_keys=sort,
        default_flow_style=False,
        allow_unicode=True,
        width=_WIDE,
        explicit_start=len(documents) > 1,
    )
    return escaped(text)


def escaped(text: str) -> str:
    """Return JSON, or YAML in which such texts are in double quotes, with escapes for what no log
    must carry out.
    """
    if not text.translate(_LAYOUT).isprintable():
        text = "".join(
            char if char.isprintable() or char in "\n\t" else _escape(char) for char in text
        )
    # CI systems carry out what stands behind these marks in a log: see model/text.py.
    return text.replace("##[", "\\u0023#[").replace("##vso[", "\\u0023#vso[")


def _escape(char: str) -> str:
    # JSON escapes units of UTF-16: a character beyond FFFF takes two of them.
    units = char.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at]:02x}{units[at + 1]:02x}" for at in range(0, len(units), 2))


class _KubectlDumper(_Base):  # type: ignore[misc]
    """Dumper that quotes text which kubectl, unlike PyYAML, would not read as text."""

    def ignore_aliases(self, _data: Any) -> bool:
        return True


def _text(dumper: Any, text: str) -> Any:
    # libyaml takes no subclass of str.
    return dumper.represent_scalar("tag:yaml.org,2002:str", str(text), style=_style(text))


@lru_cache(2**14)
def _style(text: str) -> str | None:
    """Return how a text is quoted; documents have the same texts again and again."""
    quoted = could_command(text) or not text.translate(_LAYOUT).isprintable() or _is_ambiguous(text)
    return '"' if quoted else "|" if "\n" in text else None


def _is_ambiguous(text: str) -> bool:
    try:
        return plain(text) is not text
    except ValueError:
        return True


_KubectlDumper.add_representer(str, _text)
# PyYAML looks a representer up by the exact type.
_KubectlDumper.add_representer(SecretText, _text)
