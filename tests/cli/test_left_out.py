"""What a file of people leaves out is the hub's: once the hub has an object, a plan has nothing to do for its defaults."""

from __future__ import annotations

import copy
import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml

from fleet_components.cli import clock
from fleet_components.hub.folder.writing import write_observation
from fleet_components.hub.observation import HubObservation
from tests.cli.clone import Clone
from tests.cli.fleets import SECRET, edit, plan, run
from tests.hub.folder.hubs import AS_OF, kubefleet, later, observed

WEB, SHOP = "objects/shop/Deployment.storefront.yaml", "policies/ClusterResourcePlacement/shop.yaml"
PLACES = ["mine/web.yaml", WEB]


@pytest.fixture(autouse=True)
def now(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clock, "now", lambda: AS_OF + timedelta(hours=3))


def deployment(objects: list[dict[str, Any]]) -> dict[str, Any]:
    return next(data for data in objects if data["kind"] == "Deployment")


def stored() -> HubObservation:
    """The hub once it has the Deployment, with what its API server adds."""
    objects = copy.deepcopy(kubefleet())
    spec = deployment(objects)["spec"]
    spec |= {"revisionHistoryLimit": 10, "progressDeadlineSeconds": 600}
    spec["template"]["spec"] |= {"restartPolicy": "Always", "dnsPolicy": "ClusterFirst"}
    spec["template"]["spec"]["containers"][0] |= {"imagePullPolicy": "IfNotPresent"}
    return observed(objects)


def written(folder: Path, place: str) -> Path:
    """A directory in which people have written the Deployment before the hub had it."""
    write_observation(
        folder,
        observed([item for item in kubefleet() if item["kind"] != "Deployment"]),
        update=False,
    )
    web = deployment(kubefleet())
    web["metadata"]["labels"] = {"of": "us"}
    (folder / place).parent.mkdir(exist_ok=True)
    (folder / place).write_text(f"# agreed with sales\n{yaml.safe_dump(web, sort_keys=False)}")
    return folder


def labelled() -> HubObservation:
    objects = [*stored().objects]
    web = next(data for data in objects if data["kind"] == "Deployment")
    spec: dict[str, Any] = {**web, "metadata": {**web["metadata"], "labels": {"of": "us"}}}
    members = [
        *stored().members,
        *stored().policies,
        *(spec if data is web else data for data in objects),
    ]
    return later(observed(members))


@pytest.mark.parametrize("place", PLACES)
def test_once_the_hub_has_it_nothing_changes_and_the_file_is_as_it_was(
    place: str, tmp_path: Path
) -> None:
    folder = written(tmp_path / "fleet", place)
    text = (folder / place).read_text()
    found = write_observation(folder, labelled(), update=True)
    assert (found.edited, found.lost) == ((), ())
    assert (folder / place).read_text() == text
    assert plan(folder)["headline"][0] == "nothing changes"
    assert write_observation(folder, labelled(), update=True).changed == ()


@pytest.mark.samples(3)
@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("replicas: 3", "replicas: 9", ["-replicas: 3", "+replicas: 9"]),
        ("  labels:\n    of: us\n", "  labels: {}\n", ["-labels:", "-of: us", "+labels: {}"]),
        ("labels:\n    of: us\n", "labels:\n    of: us\n    too: you\n", ["+too: you"]),
        (
            "replicas: 3",
            "replicas: 3\n  revisionHistoryLimit: 2",
            ["-revisionHistoryLimit: 10", "+revisionHistoryLimit: 2"],
        ),
        (
            "- name:",
            "- imagePullPolicy: Always\n        name:",
            ["-imagePullPolicy: IfNotPresent", "+imagePullPolicy: Always"],
        ),
    ],
)
def test_an_edit_of_such_a_file_is_all_that_changes(
    place: str, old: str, new: str, told: list[str], tmp_path: Path
) -> None:
    folder = written(tmp_path / "fleet", place)
    write_observation(folder, labelled(), update=True)
    edit(folder / place, old, new)
    assert changed_lines(run("plan", folder).stdout) == told
    found = write_observation(folder, labelled(), update=True)
    assert (found.edited, found.lost) == ((place,), ())
    assert changed_lines(run("plan", folder).stdout) == told


@pytest.mark.parametrize("place", PLACES)
def test_such_a_file_that_is_removed_is_a_removal(place: str, tmp_path: Path) -> None:
    folder = written(tmp_path / "fleet", place)
    write_observation(folder, labelled(), update=True)
    (folder / place).unlink()
    for _ in range(2):
        assert (
            plan(folder)["headline"][0]
            == "2 clusters get an object less of shop in 2 waves, nothing else changes"
        )
        found = write_observation(folder, labelled(), update=True)
        assert (found.edited, found.lost, (folder / place).exists()) == ((WEB,), (), False)


def changed_lines(shown: str) -> list[str]:
    lines = (line[4:] for line in shown.splitlines() if line.startswith(("    -", "    +")))
    return [line[0] + line[1:].strip() for line in lines]


def test_a_review_of_two_commits_sees_the_same(tmp_path: Path) -> None:
    clone = Clone(tmp_path)
    folder = written(clone.top / "hub", PLACES[0])
    write_observation(folder, labelled(), update=True)
    clone.commit()
    clone.git("checkout", "-q", "-b", "scaled")
    edit(folder / PLACES[0], "replicas: 3", "replicas: 9")
    clone.commit()
    shown = run("review", folder, "--base", "change")
    assert changed_lines(shown.stdout) == ["-replicas: 3", "+replicas: 9"], shown.output


def test_a_secret_of_people_counts_and_is_not_shown(tmp_path: Path) -> None:
    write_observation(tmp_path / "fleet", observed(kubefleet()), update=False)
    secret = next(item for item in kubefleet() if item["kind"] == "Secret")
    (tmp_path / "fleet/secret.yaml").write_text(yaml.safe_dump(secret))
    write_observation(tmp_path / "fleet", later(observed(kubefleet())), update=True)
    document = plan(tmp_path / "fleet")
    assert SECRET not in json.dumps(document)
    assert document["headline"][0] == "nothing changes"
