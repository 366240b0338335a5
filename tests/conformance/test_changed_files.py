"""The runner notices a file that says anything else than what was measured, whichever part of it is changed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.conformance.__main__ import check
from tests.vectors import vectors

KUBEFLEET, KARMADA = "kubefleet-live/label-change", "karmada-live/seed_06_clusternames"
Change = Callable[[Any], object]


def passes(path: str, change: Change) -> bool:
    """Whether the runner passes a recording with the last of its first two steps changed."""
    folder, _, name = path.partition("/")
    data = vectors(path)
    data["steps"] = data["steps"][:2]
    change(data["steps"][-1])
    return check(path, lambda item: data if item == name else vectors(f"{folder}/{item}")) == (1, 0)


def _member(after: Any) -> Any:
    return next(copies for copies in after["memberObjects"].values() if copies)[-1]


def _status(step: Any) -> Any:
    return step["after"]["placements"][0]["status"]


CHANGES: dict[str, tuple[str, Change]] = {
    "nothing selected": (KUBEFLEET, lambda step: step["after"]["bindings"].clear()),
    "another cluster": (
        KUBEFLEET,
        lambda step: step["after"]["bindings"][0].update(targetCluster="cluster9"),
    ),
    "a reason": (KUBEFLEET, lambda step: _status(step)["conditions"][0].update(reason="Other")),
    "a text": (KUBEFLEET, lambda step: _status(step)["conditions"][-1].update(message="other")),
    "a text of a member": (
        KUBEFLEET,
        lambda step: _status(step)["placementStatuses"][0]["conditions"][-1].update(
            message="other"
        ),
    ),
    "a count": (KUBEFLEET, lambda step: _status(step).update(observedResourceIndex="7")),
    "a state": (KUBEFLEET, lambda step: step["after"]["bindings"][0].update(state="Unscheduled")),
    "an object": (KUBEFLEET, lambda step: _member(step["after"]).update(labels={"other": "x"})),
    "an object that is missing": (
        KUBEFLEET,
        lambda step: step["after"]["memberObjects"]["cluster1"].clear(),
    ),
    "a target": (KARMADA, lambda step: step["after"]["bindings"][0]["clusters"].pop()),
    "replicas": (
        KARMADA,
        lambda step: step["after"]["bindings"][0]["clusters"][0].update(replicas=9),
    ),
    "a condition": (
        KARMADA,
        lambda step: step["after"]["bindings"][0]["conditions"][-1].update(message="other"),
    ),
    "health": (
        KARMADA,
        lambda step: step["after"]["bindings"][0]["aggregatedStatus"][0].update(health="Unhealthy"),
    ),
    "replicas of a copy": (KARMADA, lambda step: _member(step["after"]).update(replicas=9)),
    "a copy that is missing": (
        KARMADA,
        lambda step: step["after"]["memberObjects"]["member1"].clear(),
    ),
}


@pytest.mark.parametrize("path", [KUBEFLEET, KARMADA])
def test_what_was_measured_passes(path: str) -> None:
    assert passes(path, lambda step: None)


@pytest.mark.samples(5)
@pytest.mark.parametrize("what", CHANGES)
def test_a_change_is_noticed(what: str) -> None:
    assert not passes(*CHANGES[what])


@pytest.mark.parametrize(
    ("path", "change"),
    [
        (
            "kubefleet-live/select-invalid",
            lambda error: error.update(message="x is forbidden: other"),
        ),
        (
            "kubefleet-live/seed002-status-reporting-two-namespaces",
            lambda error: error.update(message="K k is invalid: spec.other: Invalid value: no"),
        ),
        (
            "karmada-live/application_failover_needs_deps",
            lambda error: error.update(message="other"),
        ),
    ],
)
def test_another_refusal_is_noticed(path: str, change: Change) -> None:
    folder, _, name = path.partition("/")
    data = vectors(path)
    assert check(path, lambda item: vectors(f"{folder}/{item}")) == (1, 0)
    step = data["steps"][0]
    change(next(error for error in (step.get("errors") or step["apiAnswers"])))
    assert check(path, lambda item: data if item == name else vectors(f"{folder}/{item}")) == (0, 1)
