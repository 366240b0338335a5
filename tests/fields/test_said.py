"""What is not carried out is said, as the table has it: refused, warned of, or passed in silence."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from fleet_components.admission import admit
from fleet_components.admission.hint import example
from fleet_components.model.manifest import Manifest
from fleet_components.model.problem import FieldPath, Problem
from fleet_components.plan.effect import Effect, Unheeded
from fleet_components.plan.effects import EFFECTS, unheeded
from fleet_components.systems.karmada.model.settings import KarmadaSettings
from tests.fields.changes import others
from tests.fields.schemas import FIELDS, KINDS_OF_FIELDS, Field
from tests.fields.seen import Object

SAID = [field for field in FIELDS if field.entries and field.entries[0].field]
CASES = [(field, entry) for field in SAID for entry in field.entries]
SPOKEN = [entry for entry in EFFECTS if entry.field and entry.effect is not Effect.NOT_NEEDED]


_ROLES = {"group": "rbac.authorization.k8s.io", "version": "v1", "kind": "ClusterRole"}
_SHOP = {"group": "", "version": "v1", "kind": "Namespace", "name": "shop"}
_MAPS = {"group": "", "version": "v1", "kind": "ConfigMap"}
_SPECS: Mapping[str, Object] = {
    "ClusterResourcePlacement": {"resourceSelectors": [_ROLES, _SHOP]},
    "ResourcePlacement": {"resourceSelectors": [_MAPS]},
    "PropagationPolicy": {"propagateDeps": True},
    "ClusterPropagationPolicy": {"propagateDeps": True},
}
"""What some fields ask for beside them."""


def _minimal(field: Field) -> dict[str, Any]:
    """A small object of the field's kind that an API server takes."""
    kind, given = field.kind, example(field.kind.schema)
    metadata = {"name": "one", **({"namespace": "shop"} if kind.namespaced else {})}
    spec = (
        {"spec": {**given.get("spec", {}), **_SPECS.get(kind.name, {})}} if "spec" in given else {}
    )
    return {
        **given,
        **spec,
        "apiVersion": kind.api_version,
        "kind": kind.name,
        "metadata": metadata,
    }


def _asking(field: Field, entry: Unheeded) -> Iterator[Object]:
    """Objects that ask for the field in a way that the entry is about."""
    words = [
        word.replace("!", "no").replace("*", "x").replace("?", "y") for word in entry.only
    ] or ["word"]
    for other in others(_minimal(field), field, words, make=True):
        yield _beside(other, entry) if entry.beside else other


def _beside(data: Object, entry: Unheeded) -> Object:
    """The object with the neighbour that the entry asks for, wherever the field is."""
    assert entry.beside
    name, pattern = entry.beside
    value = (
        "ClusterRole"
        if pattern.startswith("!")
        else "AvailableReplicas"
        if name == "dynamicWeight"
        else pattern.replace("?*", "web")
    )
    last = entry.steps[-1]

    def changed(value_now: Any) -> Any:
        if isinstance(value_now, Mapping):
            inner = {key: changed(item) for key, item in value_now.items()}
            return {**inner, name: value} if last in inner else inner
        return [changed(item) for item in value_now] if isinstance(value_now, list) else value_now

    result: Object = changed(data)
    return result


def _said(
    data: Object, settings: KarmadaSettings = KarmadaSettings()
) -> tuple[list[Problem], list[Problem]]:
    return unheeded([Manifest(data)], settings)


def _matches(path: FieldPath, entry: Unheeded) -> bool:
    """Whether a place is one of the entry's."""
    steps = entry.steps
    return len(path) == len(steps) and all(
        step in ("[]", "{}") or step == given for step, given in zip(steps, path, strict=True)
    )


def _of(problems: list[Problem], entry: Unheeded) -> list[Problem]:
    return [it for it in problems if _matches(it.path, entry) and entry.reason in it.what]


@pytest.mark.parametrize(
    ("field", "entry"), CASES, ids=[f"{field}-{entry.effect}" for field, entry in CASES]
)
def test_what_asks_for_it_is_said(field: Field, entry: Unheeded) -> None:
    said = [_said(item) for item in _asking(field, entry)]
    assert said
    refused = [problem for found, _ in said for problem in _of(found, entry)]
    warned = [problem for _, found in said for problem in _of(found, entry)]
    assert bool(refused) == (entry.effect is Effect.REFUSED)
    assert bool(warned) == (entry.effect is Effect.NONE)
    assert all(
        problem.hint == entry.hint.replace("{name}", "one") for problem in (*refused, *warned)
    )


@pytest.mark.parametrize(
    ("field", "entry"), CASES, ids=[f"{field}-{entry.effect}" for field, entry in CASES]
)
def test_a_forecast_of_a_hub_refuses_nothing_and_names_what_it_leaves_out(
    field: Field, entry: Unheeded
) -> None:
    said = [
        unheeded([Manifest(item)], KarmadaSettings(), hub=lambda _: True)
        for item in _asking(field, entry)
    ]
    refused = [problem for found, _ in said for problem in found if _matches(problem.path, entry)]
    warned = [problem for _, found in said for problem in found if _matches(problem.path, entry)]
    assert not refused
    if entry.effect is Effect.REFUSED or (entry.on_hub and entry.unless):
        assert any(
            f"is left out of this forecast: on the hub {entry.on_hub}" in item.what
            for item in warned
        )
    elif entry.effect is Effect.NONE:
        assert any(entry.reason in item.what for item in warned) != bool(entry.on_hub)


@pytest.mark.parametrize("entry", SPOKEN, ids=lambda it: f"{it.kinds[0]}-{it.field}")
def test_what_is_said_is_about_something_that_an_api_server_takes(entry: Unheeded) -> None:
    asking = (item for field, other in CASES if other == entry for item in _asking(field, entry))
    heard = (item for item in asking if any(_of(found, entry) for found in _said(item)))
    assert any(not admit(Manifest(item)).problems for item in heard)


@pytest.mark.parametrize("kind", KINDS_OF_FIELDS, ids=str)
def test_what_asks_for_nothing_is_passed_in_silence(kind: tuple[str, str]) -> None:
    """A value that is empty, or the default of the API."""
    for field in (item for item in SAID if item.of == kind):
        silent(field)


def silent(field: Field) -> None:
    nothing = [
        None,
        "",
        False,
        [],
        {},
        field.schema.default,
        *(entry.default for entry in field.entries),
    ]
    for other in others(_minimal(field), field, make=True):
        for value in nothing:
            refused, warned = _said(_with_value(other, field.steps, value))
            assert [it for it in (*refused, *warned) if it.path[-1:] == field.steps[-1:]] == []
        break


def _with_value(value: Any, steps: tuple[str, ...], new: Any) -> Any:
    if not steps:
        return new
    step, *rest = steps
    if step == "[]":
        return [_with_value(item, tuple(rest), new) for item in value]
    if step == "{}":
        return {key: _with_value(item, tuple(rest), new) for key, item in value.items()}
    return {**value, step: _with_value(value.get(step, {}), tuple(rest), new)}


SETTLED: list[Unheeded] = sorted(
    {entry for _, entry in CASES if entry.unless}, key=lambda it: it.field
)


@pytest.mark.parametrize("entry", SETTLED, ids=lambda it: it.field)
def test_what_a_setting_has_carried_out_is_not_warned_of(entry: Unheeded) -> None:
    field = next(field for field in SAID if entry in field.entries)
    switched: dict[str, Any] = {entry.unless: True}
    settings = KarmadaSettings(**switched)
    given = list(_asking(field, entry))
    assert any(_of(_said(item)[1], entry) for item in given)
    assert not any(_of(_said(item, settings)[1], entry) for item in given)


def test_what_a_hub_writes_is_not_taken_for_what_a_user_wrote() -> None:
    field = next(
        it for it in SAID if str(it) == "ClusterResourcePlacement-v1-metadata.finalizers.[]"
    )
    finalizers = ["kubernetes-fleet.io/crp-cleanup", "example.com/mine"]
    item = _minimal(field)
    refused, warned = _said({**item, "metadata": {**item["metadata"], "finalizers": finalizers}})
    assert refused == []
    assert [problem.path for problem in warned] == [("metadata", "finalizers", 1)]
