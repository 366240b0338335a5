"""Each Karmada example does what its README says."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path

import pytest

from fleet_components import FleetError, read_source
from fleet_components.plan.delivered import delivered
from fleet_components.plan.fleet import plan_fleet
from fleet_components.plan.fleet_plan import FleetPlan
from fleet_components.plan.options import Options
from fleet_components.plan.past import Past
from fleet_components.rollout.rollout import Change
from fleet_components.systems.karmada.plan.subject import TemplateSubject

EXAMPLES = Path(__file__).parents[3] / "examples"
FOLDERS = sorted(EXAMPLES.glob("karmada-*"))
every_example = pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)

Edits = Mapping[str, tuple[str, str]]


def plan(folder: Path, before: FleetPlan | None = None) -> FleetPlan:
    """The one template, decided; ``before`` was carried out."""
    past = Past.of(delivered(before, redacted=False), "fleet") if before else Past()
    return plan_fleet(read_source(folder), past, Options(stack="organization/project/stack"))


def edited(folder: Path, edits: Edits, to: Path) -> Path:
    shutil.copytree(folder, to)
    for file, (old, new) in edits.items():
        text = (to / file).read_text()
        assert old in text
        (to / file).write_text(text.replace(old, new))
    return to


def shares(plan: FleetPlan) -> dict[str, int | None]:
    (decided,) = plan.subjects
    return {cluster: share.replicas for cluster, share in decided.outcome.record.decisions.items()}


def outcome(plan: FleetPlan) -> str:
    (decided,) = plan.subjects
    subject = decided.subject
    assert isinstance(subject, TemplateSubject)
    winner = next(verdict.policy for verdict in subject.verdicts(decided.outcome) if verdict.wins)
    return f"{winner.name} has it: {', '.join(f'{cluster} {n}' for cluster, n in shares(plan).items())}"


def test_there_is_an_example_of_every_policy() -> None:
    assert len(FOLDERS) == 18
    listed = (EXAMPLES / "README.md").read_text()
    assert [
        folder.name for folder in FOLDERS if f"[{folder.name}]({folder.name}/)" not in listed
    ] == []


@every_example
def test_the_outcome_is_that_of_the_readme(folder: Path) -> None:
    text = (folder / "README.md").read_text()
    assert f"Outcome: {outcome(plan(folder))}.\n" in text
    assert f"fleet plan examples/{folder.name}\n" in text


@every_example
def test_a_second_pass_moves_nothing(folder: Path) -> None:
    first = plan(folder)
    second = plan(folder, first)
    assert second.subjects[0].record == first.subjects[0].record
    assert {entry.change for entry in second.subjects[0].entries.values()} == {Change.KEEP}


@pytest.mark.parametrize(
    ("name", "edits", "expected"),
    [
        ("one-cluster", {"policy.yaml": ("member1", "member2")}, {"member2": 1}),
        ("one-cluster", {"app.yaml": ("replicas: 1", "replicas: 2")}, {"member1": 2}),
        (
            "dynamic-weights",
            {"app.yaml": ("replicas: 12", "replicas: 90")},
            {"member1": 2, "member2": 4, "member3": 6},
        ),
        ("primary-backup", {"members.yaml": ("name: member1", "name: elsewhere")}, {"member2": 2}),
        (
            "failover",
            {
                "members.yaml": (
                    "name: member1\nspec:",
                    "name: member1\nspec:\n  taints: [{key: maintenance, effect: NoExecute}]",
                )
            },
            {"member2": 3, "member3": 3},
        ),
        (
            "custom-kind",
            {"app.yaml": ("size: 9", "size: 7")},
            {"member1": 3, "member2": 2, "member3": 2},
        ),
        (
            "static-weights",
            {"app.yaml": ("replicas: 4", "replicas: 10")},
            {"member1": 5, "member2": 5},
        ),
    ],
)
def test_what_a_change_comes_to(
    name: str, edits: Edits, expected: dict[str, int], tmp_path: Path
) -> None:
    folder = EXAMPLES / f"karmada-{name}"
    assert shares(plan(edited(folder, edits, tmp_path / name), plan(folder))) == expected


def test_the_capital_letter_of_the_document_is_refused(tmp_path: Path) -> None:
    edits = {"policy.yaml": ("effect:", "Effect:")}
    with pytest.raises(FleetError) as refused:
        read_source(edited(EXAMPLES / "karmada-tolerations", edits, tmp_path / "tolerations"))
    assert "spec.placement.clusterTolerations[0].Effect" in str(refused.value)
    assert "effect" in str(refused.value)


def test_the_name_that_the_document_gives_twice_is_refused(tmp_path: Path) -> None:
    edits = {"policy.yaml": ("propagation-default-explicit", "propagation-low-explicit")}
    with pytest.raises(FleetError, match="given twice"):
        read_source(edited(EXAMPLES / "karmada-explicit-priority", edits, tmp_path / "priority"))


def test_a_policy_without_selectors_is_refused(tmp_path: Path) -> None:
    folder = edited(EXAMPLES / "karmada-names", {}, tmp_path / "names")
    text = (folder / "policy.yaml").read_text()
    start, end = text.index("  resourceSelectors:"), text.index("  placement:")
    (folder / "policy.yaml").write_text(text[:start] + text[end:])
    with pytest.raises(FleetError, match=r"spec\.resourceSelectors"):
        read_source(folder)
