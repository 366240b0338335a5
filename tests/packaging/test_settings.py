"""The page of settings, and the JSON Schema of the configuration, say what the code takes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from fleet_components.content.wire import to_json
from fleet_components.option_values import WrongValueError
from fleet_components.options import KEYS
from tools.settings import page, schema

DOCS = Path(__file__).parents[2] / "docs"
VALID = {
    "source": ["fleet", "more"],
    "render": "out",
    "kubeconfigs": {"secure": "v1:abc"},
    "delivery": "karmada",
    "hub": {"secure": "v1:abc"},
    "kubefleet": "main-2026-08",
    "karmada": "1.17",
    "asOf": "2026-01-31T12:00:00Z",
    "approvals": "one, two",
    "lost": ["east"],
    "limit": 0.25,
    "confirm": ["1a2b3c4d", 12345678],
    "keepClusterResources": False,
    "keepFound": "false",
    "maxWait": 5,
    "readyTimeout": "20",
    "renamed": {"fleet": "old", "members": {"new": "old"}},
    "takesOver": {"east": "*", "west": ["web"]},
    "takesFrom": "o/p/s",
    "passOver": "Widget",
    "skipChecks": ["digests"],
    "plugins": "own:Two",
    "moving": True,
    "protect": False,
}


def test_the_page_is_that_of_the_code() -> None:
    """``make docs`` writes it."""
    assert (DOCS / "settings.md").read_text() == page()


def test_the_schema_is_that_of_the_code() -> None:
    """``make docs`` writes it."""
    assert (DOCS / "settings.schema.json").read_text() == to_json(schema())


def test_what_the_code_reads_the_schema_takes() -> None:
    assert VALID.keys() == KEYS.keys()
    jsonschema.validate(
        {"config": {f"fleet:{key}": value for key, value in VALID.items()}}, schema()
    )
    for key, value in VALID.items():
        if not (isinstance(value, dict) and "secure" in value):
            text = value if isinstance(value, str) else json.dumps(value)
            KEYS[key].parsed(text)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("limit", "half"),
        ("protect", "maybe"),
        ("karmada", "1.2"),
        ("delivery", "by hand"),
        ("renamed", {"member": {"new": "old"}}),
        ("lost", {"east": True}),
        ("maxWait", "soon"),
        ("source", ""),
    ],
)
def test_what_is_wrong_in_the_code_is_wrong_in_the_schema(key: str, value: Any) -> None:
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({"config": {f"fleet:{key}": value}}, schema())
    with pytest.raises(WrongValueError):
        KEYS[key].parsed(value if isinstance(value, str) else json.dumps(value))
