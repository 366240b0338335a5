"""``docs/fields-by-delivery.md``: every field of every policy is in it, and what it says of renders is so."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from fleet_components.admission import KINDS
from fleet_components.plan.effects import ELSEWHERE, STEERING
from tests.cli.fleets import edit, run, write
from tests.delivery.karmada.world import deployment, member, on
from tests.delivery.karmada.world import policy as karmada_policy
from tools.deliveries import PolicyFields, page

PAGE = Path(__file__).parents[2] / "docs" / "fields-by-delivery.md"
REPO = ("--repo", "https://git.example/ops", "--path", "ops", "--omit-secrets")
WARNS = "the render warns"


def test_the_page_is_that_of_the_code() -> None:
    assert PAGE.read_text() == page(), "run: make docs"


@pytest.mark.parametrize("kind", STEERING)
def test_every_field_of_a_policy_is_in_a_row_or_carried_out_by_all(kind: str) -> None:
    policy = PolicyFields.of(kind)
    listed = {entry.field for entry in policy.entries}
    assert listed.isdisjoint(policy.carried_out)
    shown = {*listed, *policy.carried_out}
    fields = {
        ".".join(steps).replace(".[]", "[]").replace(".{}", "{}")
        for (_, name), known in KINDS.items()
        if name == kind
        for steps, _ in known.structure.walk()
        if steps[:1] == ("spec",)
    }
    assert fields
    assert shown <= fields
    missing = {field for field in fields if not any(_touches(field, other) for other in shown)}
    assert missing == set()


def _touches(field: str, told: str) -> bool:
    """Whether a field is one that is told, is a part of it, or holds it."""
    return (
        field == told
        or field.startswith((f"{told}.", f"{told}[", f"{told}{{"))
        or told.startswith(field)
    )


def test_every_entry_is_shown() -> None:
    for entry in ELSEWHERE:
        for words in filter(None, (entry.on_hub, entry.argocd, entry.flux)):
            assert words in page()


APPLYING = {
    "whenToTakeOver": ("whenToTakeOver: Never", "take over nothing"),
    "whenToApply": ("whenToApply: IfNotDrifted", "leave drift alone"),
    "serverSideApplyConfig.force": (
        "type: ServerSideApply, serverSideApplyConfig: {force: false}",
        "fail where others have set fields otherwise",
    ),
}


@pytest.mark.parametrize("way", ["argocd", "flux"])
def test_a_render_warns_where_karmada_takes_nothing_over(way: str, tmp_path: Path) -> None:
    """What the table says of ``conflictResolution`` is so: a render warns of ``Abort``, and of nothing else."""
    (entry,) = (item for item in ELSEWHERE if "PropagationPolicy" in item.kinds)
    assert (entry.field, entry.only) == ("spec.conflictResolution", ("Abort",))
    assert WARNS in getattr(entry, way)
    for said, warned in ((None, True), ("Abort", True), ("Overwrite", False)):
        folder = tmp_path / str(said)
        folder.mkdir()
        asked = {} if said is None else {"conflictResolution": said}
        objects = [member("a"), deployment(), karmada_policy(placement=on("a"), **asked)]
        (folder / "fleet.yaml").write_text(yaml.safe_dump_all(objects))
        done = run("render", folder, "--out", tmp_path / f"out-{said}", "--for", way, *REPO)
        assert done.exit_code == 0, done.output
        assert ("ask to take over nothing" in " ".join(done.output.split())) == warned, done.output


def test_a_render_warns_where_the_table_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    warned = {
        item.field.removeprefix("spec.strategy.applyStrategy.")
        for item in ELSEWHERE
        if WARNS in item.flux and "ClusterResourcePlacement" in item.kinds
    }
    assert warned == APPLYING.keys()
    for name, (fields, said) in APPLYING.items():
        folder = write(tmp_path / name)
        edit(
            folder / "placement.yaml",
            "  strategy:\n",
            f"  strategy:\n    applyStrategy: {{{fields}}}\n",
        )
        done = run("render", folder, "--out", f"out-{name}", "--for", "flux", *REPO)
        assert done.exit_code == 0, done.output
        assert f"ask to {said}" in done.output, name
