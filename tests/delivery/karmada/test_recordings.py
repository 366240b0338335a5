"""Recordings of a running Karmada control plane, replayed as a user's program over successive runs."""

from __future__ import annotations

import re

import attrs
import pytest

from tests.delivery.karmada.recording import Recording
from tests.delivery.karmada.replay import Replay
from tests.shared import SHARED, shared

FOLDER = "vectors/karmada-live"
NAMES = sorted(file.stem for file in (SHARED / FOLDER).glob("*.json"))

FOREIGN = "what others made or changed on a member is not seen; the provider's conflict rules decide there"
UNREACHABLE = "a member that cannot be reached fails the update; the replay reaches all of them"
NO_FLAPPING = "no flapping: an evicted Duplicated copy does not come back to be evicted again"
DIRECTLY = "Directly: an update deletes at its end, so the next one makes the new copy"
UNKNOWN_YET = "the control plane had not discovered the new kind yet"
MEMBER_REFUSES = "the member's API server refuses the object, and would fail the update"
RENAMES = "renames leave nothing: the old name goes"


@attrs.frozen
class Known:
    """A difference that is known.

    Attributes:
        steps: the steps after which it is there.
        words: how it reads, as a regular expression.
        why: why it is there.
    """

    steps: tuple[int, ...]
    words: str
    why: str

    def covers(self, step: int, words: str) -> bool:
        """Whether this is it."""
        return step in self.steps and re.match(self.words, words) is not None


KNOWN = {
    "application_failover": [
        Known((1,), "member2 Deployment nginx: only there", NO_FLAPPING),
        Known(
            (1,),
            r"Deployment nginx: clusters \[\('member2', 2\), \('member1', 2\)\], here \[\('member1', 2\)\]",
            NO_FLAPPING,
        ),
        Known((3,), "takes another update", DIRECTLY),
    ],
    "binding_status_texts": [Known((1,), "Widget w1: only here", UNKNOWN_YET)],
    "conflict_template_annotation": [
        Known((0, 3, 5), "member1 Deployment nginx: only there", FOREIGN),
        Known((1,), "member1 Deployment nginx: labels", FOREIGN),
        Known((4,), "member1 Deployment nginx: (labels|replicas|containers)", FOREIGN),
    ],
    "member_drift": [Known((2, 3, 4), "member1 Deployment nginx: (labels|annotations)", FOREIGN)],
    "member_outage": [
        Known((2, 3, 4, 5, 6), "member4 Deployment nginx: replicas 2", UNREACHABLE),
        Known((2, 3), "member4 Deployment divided: replicas 2", UNREACHABLE),
        Known((4, 5, 6), "member4 Deployment divided: only there", UNREACHABLE),
    ],
    "member_refuses_update": [
        Known((0,), "member1 Deployment nginx: only there", FOREIGN),
        Known((1,), "member1 Deployment nginx: (replicas|podLabels|overwrites)", MEMBER_REFUSES),
    ],
    "overrides_field_configmap": [
        Known((2,), "member1 ConfigMap conf: data .*, here 'not-a-map'", MEMBER_REFUSES),
        Known((3,), "member1 ConfigMap conf: only there", RENAMES),
        Known((4,), "member1 ConfigMap renamed: only there", RENAMES),
    ],
    "retain_replicas_label": [Known((1, 2), r"member1 Deployment nginx: replicas 6, here 2", FOREIGN)],
    "retained_fields": [
        Known((2, 3), "member1 ServiceAccount sa1: secrets", FOREIGN),
    ],
}
"""By recording."""
REFUSED = {"cluster_taint_policy": ("ClusterTaintPolicy", "ClusterTaintPolicy is not carried out by this version")}
"""Kinds that we refuse, and how; the recordings are replayed without them, with the taints that came of them."""
UNHEALTHY = {"application_failover": ("member2",)}
"""The members on which the application does not work."""


@pytest.fixture(params=NAMES or ["all"])
def replay(request: pytest.FixtureRequest) -> Replay:
    """A replay of each recording; skipped where they are not there."""
    name = request.param
    kind = REFUSED[name][0] if name in REFUSED else ""
    recording = Recording.read(shared(FOLDER) / f"{name}.json")
    return Replay(recording, frozenset({kind}), UNHEALTHY.get(name, ()))


def test_all_comes_to_what_was_recorded(replay: Replay) -> None:
    found, known = list(replay.differences()), KNOWN.get(replay.recording.name, [])
    assert [each for each in found if not any(one.covers(*each) for one in known)] == []
    missing = [(one.words, step) for one in known for step in one.steps if not _there(one, step, found)]
    assert missing == []


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_not_carried_out_is_refused(name: str) -> None:
    replay = Replay(Recording.read(shared(FOLDER) / f"{name}.json"))
    assert REFUSED[name][1] in replay.refusal(next(replay.recording.steps))


def _there(known: Known, step: int, found: list[tuple[int, str]]) -> bool:
    return any(number == step and known.covers(number, words) for number, words in found)
