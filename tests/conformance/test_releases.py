"""Each file says the release that it was measured on; what depends on no rule that differs is the same in all."""

from __future__ import annotations

import json

import pytest

from fleet_components.systems.kubefleet.model.release import RELEASES
from tests.conformance.__main__ import check_case
from tests.conformance.subjects import RECORDINGS, SUBJECTS
from tests.vectors import INDEX, recordings, vectors

OLD, NEW = RELEASES
DIFFERING = {
    "eviction": 4,
    "override": 6,
    "rollout": 20,
    "scheduling": 0,
    "validation": 19,
    "validation-more": 2,
}
"""How many cases come out otherwise by the rules of the former release."""
CORRECTED = "Works(s) are succcesfully created or updated"
"""A text of the former release (kubefleet-dev/kubefleet#763)."""


def test_the_index_says_the_release_of_each_folder_and_how_it_was_determined() -> None:
    assert {folder for folder in INDEX if "/" not in folder} == {
        "karmada",
        "karmada-live",
        "kubefleet",
        "kubefleet-live",
    }
    for path, entry in INDEX.items():
        assert entry["release"] in (["1.19"] if path.startswith("karmada") else list(RELEASES))
        assert entry["determined"]
    assert {f"kubefleet/{name}" for name in DIFFERING} <= INDEX.keys()


@pytest.mark.parametrize("name", DIFFERING)
def test_cases_differ_in_the_former_release_where_a_rule_differs(name: str) -> None:
    run = SUBJECTS[f"kubefleet/{name.removesuffix('-more')}"]
    cases = vectors(f"kubefleet/{name}")
    assert [case["name"] for case in cases if case["release"] != NEW] == []
    assert (
        len([case for case in cases if check_case({**case, "release": OLD}, run)])
        == DIFFERING[name]
    )


def test_every_text_of_a_recording_that_differs_is_that_of_its_release() -> None:
    texts = [json.dumps(vectors(f"kubefleet-live/{name}")) for name in recordings("kubefleet-live")]
    assert (
        len([text for text in texts if "Work(s) are successfully created or updated" in text]) == 89
    )
    assert [text for text in texts if CORRECTED in text] == []


@pytest.mark.long
def test_a_recording_is_the_same_in_the_former_release_beside_two_rules() -> None:
    alike, refused = list[str](), list[str]()
    for name in recordings("kubefleet-live"):
        replay = RECORDINGS["kubefleet-live"](
            name, lambda item: {**vectors(f"kubefleet-live/{item}"), "release": OLD}
        )
        words = [item.words for item in replay.unexplained() if CORRECTED not in item.words]
        # The definitions check since kubefleet-dev/kubefleet#751 which fields go together, in other words.
        refused += [name for word in words if "cannot be set" in word]
        alike += [name for word in words if "cannot be set" not in word]
    assert alike == []
    assert len(refused) == 4
