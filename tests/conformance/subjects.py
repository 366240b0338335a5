"""Which function runs which subject, and what replays recordings; a subject that is not here is not built yet."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from tests.admission import cases as admission
from tests.conformance import karmada_cases as karmada
from tests.conformance import karmada_scheduling, kubefleet_overrides, kubefleet_scheduling
from tests.delivery.karmada.recording import Recording as KarmadaRecording
from tests.delivery.karmada.replay import Replay as KarmadaReplay
from tests.delivery.kubefleet.recording import Recording as KubeFleetRecording
from tests.delivery.kubefleet.replay import Replay as KubeFleetReplay
from tests.delivery.replay import Replay
from tests.rollout import cases as rollout
from tests.rollout import eviction_cases as eviction
from tests.vectors import Content

Case = Mapping[str, Any]


def run_eviction(case: Case) -> Iterator[tuple[Any, Any]]:
    """The check of one eviction."""
    yield case["expected"], eviction.outcome(case)


def run_rollout(case: Case) -> Iterator[tuple[Any, Any]]:
    """One pass of the rolling update."""
    yield case["expected"], rollout.outcome(case)


def run_validation(case: Case) -> Iterator[tuple[Any, Any]]:
    """Admission of one object."""
    yield admission.expected(case), admission.outcome(case)


SUBJECTS = {
    **karmada.SUBJECTS,
    "karmada/scheduling": karmada_scheduling.run,
    "kubefleet/eviction": run_eviction,
    "kubefleet/override": kubefleet_overrides.run,
    "kubefleet/rollout": run_rollout,
    "kubefleet/scheduling": kubefleet_scheduling.run,
    "kubefleet/validation": run_validation,
}


def _of_karmada(name: str, content: Content) -> Replay[Any, Any]:
    return KarmadaReplay.of(KarmadaRecording.of(name, content))


def _of_kubefleet(name: str, content: Content) -> Replay[Any, Any]:
    return KubeFleetReplay.of(KubeFleetRecording.of(name, content))


RECORDINGS = {"karmada-live": _of_karmada, "kubefleet-live": _of_kubefleet}
"""What begins the replay of a recording of each folder."""
