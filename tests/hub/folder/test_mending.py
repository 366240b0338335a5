"""Every state of damage has one message with one way out, and whoever goes it has a directory that is whole."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import attrs
import pytest

from fleet_components import FleetError
from fleet_components.hub.azure.fleet_resource import FleetResource
from fleet_components.hub.folder.writing import header_before, write_observation
from fleet_components.hub.observation import HubObservation
from fleet_components.review.planning.survey import CommandLine, survey
from tests.hub.folder.hubs import kubefleet, later, observed, texts

SECRET = {
    "apiVersion": "v1",
    "kind": "Secret",
    "metadata": {"name": "db", "namespace": "shop"},
    "data": {"p": "eA=="},
}
HIDDEN = "observed/objects/shop/Secret.db.yaml"
HUB, FILES, FLEET = "observed/hub.yaml", "observed/files.json", "observed/fleet.json"
SHOP, DUBLIN, AZURE = (
    "observed/ClusterResourcePlacement/shop.json",
    "observed/members/dublin.yaml",
    "observed/azure.yaml",
)
MERGED = "<<<<<<< HEAD\n{}=======\n{}>>>>>>> main\n"
DAMAGES: dict[str, Mapping[str, object]] = {
    **{f"{path} is {what}": {path: what} for path in (HUB, FILES, FLEET, SHOP) for what in ("merged", "cut")},
    **{f"{path} is {what}": {path: what} for path in (HUB, FILES, FLEET, SHOP) for what in ("gone", "empty", "a list")},
    **{f"{path} is merged": {path: "merged"} for path in (DUBLIN, AZURE, HIDDEN)},
    "the header is an object of another kind": {HUB: "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"},
    "the header is cut in its first line": {HUB: "apiVer"},
    "a part of a member is of no kind": {DUBLIN: "status: {}\n"},
    "a hidden object is none": {HIDDEN: "{}"},
    "the file of Azure is another": {AZURE: "apiVersion: v1\nkind: ConfigMap\n"},
    "the file of Azure is empty": {AZURE: ""},
    "two files are gone": {HUB: "gone", SHOP: "gone"},
    "a file of another observation": {"observed/ClusterResourcePlacement/other.json": "{}"},
}  # fmt: skip


@pytest.fixture(scope="module")
def observation() -> HubObservation:
    return observed(
        [*kubefleet(), {**SECRET, "type": "Opaque"}],
        fleet=FleetResource(
            id="/subscriptions/a/resourceGroups/b/providers/Microsoft.ContainerService/fleets/c"
        ),
    )


def damage(file: Path, what: object) -> None:
    text = file.read_text() if file.exists() else ""
    changed = {
        "merged": MERGED.format(text, text.replace("2026", "2027")),
        "cut": text[: len(text) * 2 // 3],
        "empty": "",
        "a list": "[]",
    }
    file.unlink(missing_ok=True)
    if what != "gone":
        file.write_text(changed.get(str(what), str(what)))


@pytest.mark.samples(10)
@pytest.mark.parametrize("what", DAMAGES)
def test_the_way_out_heals(what: str, observation: HubObservation, tmp_path: Path) -> None:
    folder = tmp_path / "hub"
    write_observation(folder, observation, update=False)
    whole = texts(folder)
    for path, how in DAMAGES[what].items():
        damage(folder / path, how)
    assert texts(folder) != whole
    with pytest.raises(FleetError) as caught:
        survey([folder], CommandLine())
    problems = caught.value.problems
    assert {problem.hint.partition(" writes")[0] for problem in problems} == {
        "fleet observe --hub KUBECONFIG --out DIR --update"
    }, problems
    assert {Path(problem.file).relative_to(folder).as_posix() for problem in problems} <= {
        *DAMAGES[what]
    }, problems
    with pytest.raises(FleetError, match="is an observed directory") as first:
        header_before(folder, update=False)
    assert "--update" in first.value.problems[0].hint
    write_observation(folder, later(observation), update=True)
    (plan,) = survey([folder], CommandLine()).plans
    assert not plan.changes
    assert texts(folder).keys() == whole.keys()


@pytest.mark.parametrize(("path", "old"), [(HUB, "format: 1"), (AZURE, "fleet-components/v1")])
def test_what_a_later_version_has_written_asks_for_that(
    path: str, old: str, observation: HubObservation, tmp_path: Path
) -> None:
    folder = tmp_path / "hub"
    write_observation(folder, observation, update=False)
    text = (folder / path).read_text()
    assert old in text
    (folder / path).write_text(text.replace(old, old.replace("1", "2")))
    with pytest.raises(FleetError) as caught:
        survey([folder], CommandLine())
    assert [problem.hint for problem in caught.value.problems] == ["upgrade fleet-components"]
    with pytest.raises(FleetError) as again:
        write_observation(folder, attrs.evolve(later(observation), notes=("new",)), update=True)
    assert [problem.hint for problem in again.value.problems] == ["upgrade fleet-components"]
