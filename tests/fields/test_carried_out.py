"""Every field that the table does not have is carried out: a change of it is seen in a plan."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import islice
from typing import Any

import pytest

from fleet_components.admission import Existing, admit
from fleet_components.model.manifest import Manifest
from fleet_components.model.problem import FleetError
from fleet_components.plan.effect import Effect
from tests.fields import karmada, kubefleet
from tests.fields.changes import changed, in_version, others
from tests.fields.schemas import CARRIED_OUT, FIELDS, RELEASES, Field
from tests.fields.seen import Object, Step, seen

UNDER = Existing((), RELEASES)
SITUATIONS = {
    **{f"KubeFleet: {name}": steps for name, steps in kubefleet.SITUATIONS.items()},
    **{f"Karmada: {name}": steps for name, steps in karmada.SITUATIONS.items()},
}
PAIRS = {**kubefleet.PAIRS, **karmada.PAIRS}
"""Fields whose change alone an API server refuses, or that must change in the last update alone."""
_REQUIRED = "spec.policy.affinity.clusterAffinity.requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED = "spec.policy.affinity.clusterAffinity.preferredDuringSchedulingIgnoredDuringExecution"
REFUSED_BY_API_SERVERS = (
    f"{_REQUIRED}.clusterSelectorTerms.[].propertySorter.",
    f"{_PREFERRED}.[].preference.propertySelector.",
    "spec.stages.[].beforeStageTasks.[].waitTime",
    "spec.clusterResourceSelectors.[].labelSelector.",
    "spec.policy.overrideRules.[].clusterSelector.clusterSelectorTerms.[].propertySelector.",
    "spec.policy.overrideRules.[].clusterSelector.clusterSelectorTerms.[].propertySorter.",
)
"""Fields that a webhook or a rule refuses whatever they hold."""
_AT_ONCE = 3
_MOST = 1000
"""Changes that are tried of a field: more than any needs that is carried out."""
_OWN_NAMESPACE = ("PropagationPolicy", "OverridePolicy")


def _is_refused(field: Field) -> bool:
    return ".".join(field.steps).startswith(REFUSED_BY_API_SERVERS)


def _is_bound(field: Field) -> bool:
    """A selector of a namespaced policy selects in its namespace: nothing else is taken."""
    selector = ("spec", "resourceSelectors", "[]", "namespace")
    return field.kind.name in _OWN_NAMESPACE and field.steps == selector


JUDGED = [field for field in CARRIED_OUT if not _is_refused(field) and not _is_bound(field)]
"""The fields of which a plan can tell."""
_BY_NAME = {(field.kind.name.removeprefix("Cluster"), field.steps): field for field in JUDGED}
_ONCE = set(_BY_NAME.values())
"""Each of them in one version of one of its kinds; the other kinds and versions are read alike."""
WALKED = [
    pytest.param(field, id=str(field), marks=() if field in _ONCE else pytest.mark.long)
    for field in JUDGED
]

IDLE = [
    field
    for field in FIELDS
    if field.entries
    and field.entries[-1].always
    and all(it.effect is not Effect.REFUSED for it in field.entries)
    and len(field.schema.enum) != 1
]
"""The fields that have no effect whatever they hold, which may be several things."""


@cache
def _before(situation: str, kind: str, version: str) -> Any:
    field = next(it for it in FIELDS if (it.kind.name, it.kind.api_version) == (kind, version))
    steps = in_version(SITUATIONS[situation], field)
    return _as_written(situation) if steps == SITUATIONS[situation] else seen(steps)


@cache
def _as_written(situation: str) -> Any:
    return seen(SITUATIONS[situation])


def _having(field: Field) -> dict[str, bool]:
    """The situations that have the kind, those first that have the field, which is told of each; small ones first."""
    having = {
        name: [data for data in steps[-1].objects if field.is_of(data)]
        for name, steps in SITUATIONS.items()
    }
    told = {name: any(map(field.asked, ones)) for name, ones in having.items() if ones}
    return dict(sorted(told.items(), key=lambda item: (not item[1], len(SITUATIONS[item[0]]))))


def _tried(field: Field) -> Iterator[tuple[str, list[Step]]]:
    """Some changes in each situation that has the field, and one in each other one; then again."""
    left = {name: (has, changed(SITUATIONS[name], field)) for name, has in _having(field).items()}
    while left:
        for name, (has, changes) in list(left.items()):
            some = list(islice(changes, _AT_ONCE if has else 1))
            yield from ((name, steps) for steps in some)
            if not some:
                del left[name]


@pytest.mark.parametrize("field", WALKED)
def test_a_change_of_it_is_seen_in_a_plan(field: Field) -> None:
    if pair := PAIRS.get((field.kind.name.removeprefix("Cluster"), ".".join(field.steps))):
        item, other = (seen(in_version(steps, field)) for steps in pair)
        assert item != other
        return
    tried = islice(_tried(field), _MOST)
    assert any(_differs(name, steps, field) for name, steps in tried)


def _differs(situation: str, steps: list[Step], field: Field) -> bool:
    """Whether a plan does something else; what is refused before there is one tells nothing."""
    try:
        return bool(seen(steps) != _before(situation, field.kind.name, field.kind.api_version))
    except FleetError:
        return False


@pytest.mark.long
@pytest.mark.parametrize("name", SITUATIONS)
def test_a_situation_can_be_planned_and_comes_to_the_same_each_time(name: str) -> None:
    first = _as_written(name)
    assert isinstance(first, dict), first
    assert first["refused"] == []
    assert seen(SITUATIONS[name]) == first


@pytest.mark.long
@pytest.mark.parametrize("field", IDLE, ids=str)
def test_a_field_without_effect_has_none(field: Field) -> None:
    """Whatever it holds, a plan does the same; what holds the field may matter, as a status does."""
    for name in islice(_having(field), 1):
        given = islice(changed(SITUATIONS[name], field, make=True), 3)
        holding = [
            steps
            for steps in given
            if any(field.is_of(data) and field.asked(data) for data in steps[-1].objects)
        ]
        done = list(filter(None, map(_planned, holding)))
        assert all(plan == done[0] for plan in done)


def _planned(steps: list[Step]) -> Any:
    """What a plan does; None where there is none."""
    try:
        found = seen(steps)
    except FleetError:
        return None
    return found if isinstance(found, dict) else None


@pytest.mark.long
@pytest.mark.parametrize("field", [it for it in CARRIED_OUT if _is_refused(it)], ids=str)
def test_an_api_server_refuses_it_whatever_it_holds(field: Field) -> None:
    given = list(_all_changes(field))
    assert given
    assert all(admit(Manifest(other), context=UNDER).problems for other in given)


@pytest.mark.long
@pytest.mark.parametrize("field", [it for it in CARRIED_OUT if _is_bound(it)], ids=str)
def test_a_namespaced_policy_selects_in_its_own_namespace_alone(field: Field) -> None:
    situation = next(
        item
        for steps in SITUATIONS.values()
        for item in steps[-1].objects
        if field.is_of(item) and field.asked(item)
    )
    given = [
        admit(Manifest(other), context=UNDER)
        for other in others(situation, field, ("shop", "other"))
    ]
    assert any(it.problems for it in given)
    taken = [it.defaulted.data for it in given if not it.problems]
    assert taken
    assert all(data == admit(Manifest(situation), context=UNDER).defaulted.data for data in taken)


def _all_changes(field: Field) -> Iterator[Object]:
    """Objects that hold the field, which situations do not."""
    told: list[Object] = []
    for item in (
        data for steps in SITUATIONS.values() for data in steps[-1].objects if field.is_of(data)
    ):
        if item["spec"] not in told:
            told.append(item["spec"])
            written = {**item, "apiVersion": field.kind.api_version}
            yield from (
                it for it in others(written, field, ("In", "Ge"), make=True) if field.asked(it)
            )
