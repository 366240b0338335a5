"""Every measured case comes out, and of the recordings a few; ``make test-long`` replays all of them."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.conformance.__main__ import check, check_case
from tests.conformance.subjects import SUBJECTS
from tests.vectors import FOLDER, unpacked, vectors

FILES = sorted(
    path for folder in ("karmada", "kubefleet") for path in unpacked(FOLDER / f"{folder}.tar.xz")
)
FEW = (
    "karmada-live/override_dependent",
    "karmada-live/seed_02_template_before_policy",
    "karmada-live/seed_08c_affinities_no_group_fits",
    "karmada-live/seed_09_affinities_primary_backup",
    "kubefleet-live/override-second-cro-same-resource",
    "kubefleet-live/pickall-nothing-matches",
    "kubefleet-live/pickn-property-k8s-version",
    "kubefleet-live/policy-change-moves-2",
    "kubefleet-live/select-invalid",
    "kubefleet-live/select-object-twice",
)


def within(folder: str) -> Callable[[str], object]:
    """Gives the files of a folder."""
    return lambda name: vectors(f"{folder}/{name}")


@pytest.mark.parametrize("path", FILES)
def test_every_case_comes_out(path: str) -> None:
    cases = vectors(path)
    assert cases
    assert [
        mismatch
        for case in cases
        if (mismatch := check_case(case, SUBJECTS[path.removesuffix("-more")]))
    ] == []


def test_every_subject_has_cases() -> None:
    assert {path.removesuffix("-more") for path in FILES} == SUBJECTS.keys()


@pytest.mark.parametrize("path", FEW)
def test_a_recording_comes_out(path: str) -> None:
    assert check(path, within(path.partition("/")[0])) == (1, 0)


def test_every_file_says_its_release() -> None:
    assert all(case["release"] for path in [*FILES, *FEW] for case in _cases(path))


def _cases(path: str) -> list[dict[str, object]]:
    content = vectors(path)
    return content if isinstance(content, list) else [content]


def test_the_cases_cover_kubefleet_scheduling() -> None:
    found = vectors("kubefleet/scheduling")
    tags = {tag for case in found for tag in case["tags"]}
    assert tags >= {
        "PickAll",
        "PickFixed",
        "PickN",
        "ResourcePlacement",
        "multiStep",
        "singleStep",
        "schedulingError",
    }
    assert tags >= {
        "labelSelector",
        "propertySelector",
        "required",
        "preferred",
        "negativeWeight",
        "propertySorter",
    }
    assert tags >= {
        "spreadDoNotSchedule",
        "spreadScheduleAnyway",
        "taints",
        "tolerations",
        "leaving",
    }
    rollouts = {step.get("rollout", "full") for case in found for step in case.get("steps", ())}
    assert rollouts == {"full", "bindOnly", "none"}
