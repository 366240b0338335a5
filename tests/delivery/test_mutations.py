"""No known difference hides a fault: a recording that says anything else of what it tells does not pass."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

from tests.delivery.karmada.recording import Recording as OfKarmada
from tests.delivery.karmada.replay import Replay as KarmadaReplay
from tests.delivery.kubefleet.recording import Recording as OfKubeFleet
from tests.delivery.kubefleet.replay import Replay as KubeFleetReplay
from tests.delivery.mutations import changed, mutations
from tests.delivery.recording import Seen
from tests.delivery.replay import Difference, Replay
from tests.vectors import recordings

FEW = {
    "karmada": [
        "application_failover",
        "conflict_template_annotation",
        "member_drift",
        "member_outage",
        "member_refuses_update",
        "overrides_field_configmap",
        "retained_fields",
    ],
    "kubefleet": [
        "drift2-ifnotdrifted-partial",
        "envelope-resource",
        "member-agent-down",
        "member-leaves-and-rejoins",
        "override-cro-clusterrole",
        "revision-history-policy",
        "rollout-apply-fails",
        "serversideapply-conflict",
        "staged-two-stages",
        "staged0-never-available",
    ],
}
OPAQUE = {
    "what others have made or changed on a member is not seen in process",
    "an update ends when all stands, and what cannot stand is refused: nothing in between gets an index",
    "a run that brings its clusters what they have counts them as updated, whatever its state",
    "an object that has drifted is left alone by itself: its member gets everything else, and others do not wait",
    "what others have set on a member is not seen in process; an update is refused because of that conflict",
}
"""Rules under which a few changed values could have been seen as well, as nothing in a recording tells them apart."""
MOST = 3
"""So many changed values of a recording may come under them; of several hundreds."""


def replayed(system: str, name: str) -> Replay[Any, Any]:
    if system == "karmada":
        return KarmadaReplay.of(OfKarmada.kept(name))
    return KubeFleetReplay.of(OfKubeFleet.kept(name))


def told(replay: Replay[Any, Any]) -> Iterator[tuple[Any, Seen, Seen]]:
    """What was seen after each step, and what stands here."""
    for step in replay.recording.steps:
        list(replay.carried(step))
        yield from ((step, there, here) for there, here in replay.seen(step))


def all_of(system: str) -> list[Any]:
    return [
        pytest.param(system, name, marks=() if name in FEW[system] else pytest.mark.long)
        for name in recordings(f"{system}-live")
    ]


@pytest.mark.parametrize(("system", "name"), [*all_of("karmada"), *all_of("kubefleet")])
def test_a_changed_value_is_noticed(system: str, name: str) -> None:
    replay = replayed(system, name)
    hidden = list[tuple[str, str]]()
    for step, there, here in told(replay):
        for one in mutations(there, here):
            if rule := replay.explained(Difference(replay.recording, step, one)):
                hidden.append((rule.why, str(one)))
    assert [one for one in hidden if one[0] not in OPAQUE] == []
    assert Counter(why for why, _ in hidden).total() <= MOST, hidden


@pytest.mark.parametrize("value", [None, True, 1, "a", {"a": 1}, {"a": [1, "b"]}, [], (1, {"b": None})])
def test_changed_values_differ(value: Any) -> None:
    found = list(changed(value))
    assert found
    assert value not in found
    assert {type(one) for one in found} == {type(value) if value is not None else str}
