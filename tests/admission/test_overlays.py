"""What is written by hand beside the data: of fields that there are, and for every rule."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from fleet_components.admission import KINDS
from fleet_components.admission.definitions import (
    FOLDER,
    Declared,
    Node,
    Overlay,
    definitions,
    kinds_of,
    name_at,
    rules_in,
)
from fleet_components.admission.schema import Absent, Schema, immutable
from fleet_components.admission.structure import check, filled
from fleet_components.systems.karmada import admission as karmada
from fleet_components.systems.karmada.admission.overlay import overlay_of as overlay_of_karmada
from fleet_components.systems.karmada.model.release import TABLE as KARMADA
from fleet_components.systems.kubefleet import admission as kubefleet
from fleet_components.systems.kubefleet.admission.overlay import overlay_of
from fleet_components.systems.kubefleet.model.release import RELEASES

SYSTEMS = [
    *(
        pytest.param(kubefleet.DECLARED, overlay_of(release), id=f"KubeFleet {name}")
        for name, release in RELEASES.items()
    ),
    *(
        pytest.param(
            karmada.DECLARED, overlay_of_karmada(KARMADA.named(name)), id=f"Karmada {name}"
        )
        for name in KARMADA.names
    ),
]
TABLES = ("types", "order", "examples", "pointers", "required", "loose", "earlier", "absent")
system = pytest.mark.parametrize(("declared", "overlay"), SYSTEMS)


def nodes(declared: Collection[Declared]) -> Iterator[tuple[str, Node]]:
    """Every structure of the data with the path at which its notes begin."""
    names = {kind.name for kind in declared}
    for api_version, name in KINDS:
        if name in names:
            node = definitions(*api_version.split("/"))[name]
            yield f"{api_version.partition('/')[2]}.{name.removeprefix('Cluster')}", node["schema"]
            if "status" in node:
                yield "status", node["status"]


def fields(path: str, node: Node) -> Iterator[tuple[str, Node]]:
    yield path, node
    for name, field in node.get("fields", {}).items():
        yield from fields(f"{path}.{name}", field)
    if "items" in node:
        yield from fields(path + ("[]" if node["type"] == "array" else "{}"), node["items"])


@system
@pytest.mark.parametrize("table", TABLES)
def test_every_note_is_about_a_field_that_there_is(
    declared: tuple[Declared, ...], overlay: Overlay, table: str
) -> None:
    notes: Collection[str] = getattr(overlay, table)
    found = {
        name_at(notes, path) for start, node in nodes(declared) for path, _ in fields(start, node)
    }
    assert set(notes) - found == set()


@system
def test_the_order_is_that_of_fields_that_there_are(
    declared: tuple[Declared, ...], overlay: Overlay
) -> None:
    seen: dict[str, set[str]] = {}
    for start, root in nodes(declared):
        for path, node in fields(start, root):
            if name := name_at(overlay.order, path):
                seen.setdefault(name, set()).update(node.get("fields", {}))
    unknown = {name: set(order.split()) - seen[name] for name, order in overlay.order.items()}
    assert not any(unknown.values()), unknown


@system
def test_every_rule_is_carried_out_and_nothing_else(
    declared: tuple[Declared, ...], overlay: Overlay
) -> None:
    rules = [rule for _, root in nodes(declared) for _, rule in rules_in(root)]
    others = {
        rule["message"]: rule.get("transition", False) for rule in rules if "immutable" not in rule
    }
    assert others == {message: rule.transition for message, rule in overlay.rules.items()}
    assert set(overlay.hints) <= {rule["message"] for rule in rules if "immutable" in rule}


def test_a_file_that_is_added_is_a_new_version(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fleet_components.admission.definitions.FOLDER", tmp_path)
    for version, stored in {"v1": True, "v2": False}.items():
        spec = {"type": "object", "fields": {version: {"type": "string", "enum": ["b", "a"]}}}
        rules = [{"message": "not again", "immutable": "spec"}] if stored else []
        schema = {"type": "object", "fields": {"spec": spec}, "rules": rules}
        kind = {"namespaced": True, "storage": stored, "schema": schema}
        (tmp_path / f"example.com_{version}.json").write_text(json.dumps({"Gadget": kind}))
    overlay = Overlay(package="v1", types={}, order={}, examples={"spec.v2": "a"}, pointers={})
    second, first = kinds_of([Declared("example.com", "Gadget", held=(("metadata",),))], overlay)
    assert (second.version, first.version) == ("v2", "v1")
    assert second.schema.fields["spec"].fields["v2"].example == "a"
    assert first.schema.fields["spec"].fields["v1"].enum == ("b", "a")
    assert first.held == second.held == (("spec",), ("metadata",))
    (again,) = check(first.schema, {"spec": {}}, {"spec": {"v1": "a"}})
    assert again.what == 'Invalid value: "object": not again'
    assert again.hint


def test_every_kind_of_the_data_is_declared() -> None:
    kept = {
        (file.stem.replace("_", "/"), name)
        for file in FOLDER.iterdir()
        for name in json.loads(file.read_text())
    }
    assert kept == {key for key in KINDS if not key[0].startswith("cluster.karmada.io/")}


@pytest.mark.parametrize("kind", KINDS.values(), ids=lambda kind: f"{kind.name}-{kind.version}")
def test_every_example_is_valid(kind: Any) -> None:
    wrong: Mapping[str, Any] = {
        ".".join(path): found for path, schema in kind.schema.walk() if (found := refused(schema))
    }
    assert wrong == {}


def refused(schema: Schema) -> list[str]:
    if schema.example is None:
        return []
    return [finding.what for finding in check(schema, filled(schema, schema.example))]


@pytest.mark.parametrize(
    ("absent", "changes"),
    [
        ("error", {("a", "a"): True, ("a", "b"): False, ("", "a"): KeyError, ("a", ""): KeyError}),
        (
            "kept",
            {
                ("a", "a"): True,
                ("a", "b"): False,
                ("", "a"): False,
                ("a", ""): False,
                ("", ""): True,
            },
        ),
        (
            "free",
            {
                ("a", "a"): True,
                ("a", "b"): False,
                ("", "a"): True,
                ("a", ""): KeyError,
                ("", ""): True,
            },
        ),
    ],
)
def test_an_immutable_field_that_is_absent(
    absent: Absent, changes: Mapping[tuple[str, str], Any]
) -> None:
    rule = immutable("no", "field", absent=absent)
    for (before, after), holds in changes.items():
        old, new = ({"field": text} if text else {} for text in (before, after))
        if holds is KeyError:
            with pytest.raises(KeyError):
                rule.holds(new, old)
        else:
            assert rule.holds(new, old) is holds
