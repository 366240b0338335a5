"""The script that makes the data, on definitions of no system."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from tools.schemas import write


def written(folder: Path, spec: dict[str, Any]) -> Any:
    """The ``spec`` of a ResourceOverride in the data made of such a definition."""
    schema = {
        "type": "object",
        "properties": {"kind": {"type": "string"}, "spec": spec},
        "required": ["spec"],
    }
    definition = {
        "kind": "CustomResourceDefinition",
        "spec": {
            "group": "placement.kubernetes-fleet.io",
            "names": {"kind": "ResourceOverride"},
            "scope": "Namespaced",
            "versions": [
                {"name": "v1", "served": False},
                {
                    "name": "v2",
                    "served": True,
                    "storage": True,
                    "schema": {"openAPIV3Schema": schema},
                },
            ],
        },
    }
    (folder / "definition.yaml").write_text(yaml.safe_dump_all([definition, {"kind": "Other"}]))
    write([folder], folder)
    assert not (folder / "placement.kubernetes-fleet.io_v1.json").exists()
    kinds = json.loads((folder / "placement.kubernetes-fleet.io_v2.json").read_text())
    assert {**kinds["ResourceOverride"], "schema": {}} == {
        "namespaced": True,
        "storage": True,
        "schema": {},
    }
    assert list(kinds["ResourceOverride"]["schema"]["fields"]) == ["spec"]
    return kinds["ResourceOverride"]["schema"]["fields"]["spec"]


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        ({"type": "string", "enum": ["b", "a"]}, {"type": "string", "enum": ["b", "a"]}),
        (
            {"type": "string", "minLength": 1, "maxLength": 2},
            {"type": "string", "min_length": 1, "max_length": 2},
        ),
        (
            {"type": "integer", "minimum": 0, "default": 0},
            {"type": "integer", "minimum": 0, "default": 0},
        ),
        (
            {
                "anyOf": [{"type": "integer"}, {"type": "string"}],
                "x-kubernetes-int-or-string": True,
            },
            {"type": "int-or-string"},
        ),
        ({"x-kubernetes-preserve-unknown-fields": True}, {"type": "any"}),
        (
            {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
            {"type": "object", "items": {"type": "any"}},
        ),
        (
            {"type": "object", "additionalProperties": {"type": "string"}, "minProperties": 1},
            {"type": "object", "items": {"type": "string"}, "min_items": 1},
        ),
        (
            {
                "type": "array",
                "items": {"type": "string"},
                "maxItems": 3,
                "x-kubernetes-list-type": "atomic",
            },
            {"type": "array", "items": {"type": "string"}, "max_items": 3},
        ),
        (
            {
                "type": "object",
                "properties": {"a": {"type": "string"}},
                "required": ["a"],
                "description": "...",
            },
            {"type": "object", "fields": {"a": {"type": "string", "required": True}}},
        ),
    ],
)
def test_a_structure(tmp_path: Path, theirs: dict[str, Any], ours: dict[str, Any]) -> None:
    assert written(tmp_path, theirs) == {**ours, "required": True}


@pytest.mark.parametrize(
    ("rule", "kept"),
    [
        ("self == oldSelf", {"immutable": True}),
        ("!(self.a != oldSelf.a)", {"immutable": "a"}),
        ("!has(oldSelf.a) || self.a == oldSelf.a", {"immutable": "a", "absent": "free"}),
        (
            "(has(oldSelf.a) && has(self.a) && oldSelf.a == self.a) || (!has(oldSelf.a) && !has(self.a))",
            {"immutable": "a", "absent": "kept"},
        ),
        ("!(self.a != oldSelf.b)", {"transition": True}),
        ("self.a == 'x'", {}),
    ],
)
def test_a_rule(tmp_path: Path, rule: str, kept: dict[str, Any]) -> None:
    spec = {
        "type": "string",
        "x-kubernetes-validations": [{"rule": rule, "message": "no"}, {"rule": rule}],
    }
    said = [{"message": "no", **kept}, {"message": f"failed rule: {rule}", **kept}]
    assert written(tmp_path, spec)["rules"] == said


@pytest.mark.parametrize(
    ("spec", "unknown"),
    [
        ({"type": "integer", "multipleOf": 2}, "multipleOf"),
        (
            {"type": "string", "x-kubernetes-validations": [{"rule": "true", "reason": "no"}]},
            "reason",
        ),
    ],
)
def test_what_the_package_does_not_know_is_no_part_of_the_data(
    tmp_path: Path, spec: Any, unknown: str
) -> None:
    with pytest.raises(ValueError, match=unknown):
        written(tmp_path, spec)
