"""What is written of a hub is what is read, and nothing of it is lost or in another order."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import attrs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fleet_components.content.load import load
from fleet_components.hub.folder.header import Silence
from fleet_components.hub.folder.reading import read_observation
from fleet_components.hub.folder.writing import Changes, write_observation
from fleet_components.hub.observation import HubObservation, ObservedSubject, resources_of
from fleet_components.model.manifest import Manifest
from fleet_components.plan.past import Past
from fleet_components.plan.source import gather
from fleet_components.plan.state import StoredResource
from fleet_components.plan.stored import Keeper
from fleet_components.systems.registry import SYSTEMS
from tests.cli import test_any_supposition as random_fleets
from tests.hub.folder.hubs import AS_OF, KARMADA, kubefleet, later, observed, seen, texts
from tests.plan.rich import history

KEEPER = Keeper("acme/web/prod", "shops")
OBSERVED = {
    "kubefleet": observed(kubefleet()),
    "karmada": observed(KARMADA, SYSTEMS["karmada"]),
}


def plain(resources: Iterable[StoredResource]) -> dict[str, Mapping[str, Any]]:
    """The outputs by URN; what is made of another order of a map is the same."""
    return {resource.urn: resource.outputs for resource in resources}


def written(observation: HubObservation, folder: Path) -> Path:
    write_observation(folder, observation, update=False)
    return folder


def same(observation: HubObservation) -> None:
    with tempfile.TemporaryDirectory() as place:
        folder = written(observation, Path(place, "hub"))
        read = read_observation(folder, KEEPER)
        assert plain(read.resources) == plain(resources_of(observation, seen(observation), KEEPER))
        assert (read.system, read.as_of) == (observation.system, observation.as_of)
        found = {item.key: item.data for item in load(folder)}
        every = (*observation.members, *observation.policies, *observation.objects)
        assert found == {Manifest(item).key: item for item in every}


@pytest.mark.parametrize("observation", OBSERVED.values(), ids=OBSERVED)
def test_what_is_written_is_read(observation: HubObservation) -> None:
    same(observation)


@pytest.mark.long
@given(random_fleets.kubefleet())
@settings(max_examples=40)
def test_any_kubefleet_hub(objects: list[dict[str, Any]]) -> None:
    same(observed(objects))


@pytest.mark.long
@given(random_fleets.karmada())
@settings(max_examples=40)
def test_any_karmada_hub(objects: list[dict[str, Any]]) -> None:
    same(observed(objects, SYSTEMS["karmada"]))


def test_a_past_with_something_of_everything_comes_back(tmp_path: Path) -> None:
    """Waves, holds, evictions, overrides, update runs, a lost member: both systems at once, as no hub has them."""
    past = Past.of(history().state.resources.values(), "dev")
    subjects = tuple(
        ObservedSubject(
            name=name,
            record=record,
            done=past.done.get(name, {}),
            stands={
                cluster: tuple(
                    (item.api_version, item.key)
                    for item in past.standing
                    if (item.subject, item.cluster) == (name, cluster)
                )
                for cluster in past.done.get(name, {})
            },
            apply=past.shown[name].get("apply") or {},
        )
        for name, record in sorted(past.records.items())
    )
    objects = [
        data for data in history().world.objects() if data["apiVersion"] != "fleet-components/v1"
    ]
    observation = HubObservation(
        system=SYSTEMS["kubefleet"],
        as_of=AS_OF,
        members=tuple(data for data in objects if data["kind"] == "MemberCluster"),
        subjects=subjects,
        waiting=past.waiting,
    )
    read = read_observation(written(observation, tmp_path / "hub"), KEEPER).past("shops")
    hidden = Past.of(resources_of(observation, gather(tmp_path / "hub"), KEEPER), "shops")
    assert read.records == hidden.records
    assert (read.done, read.waiting, set(read.standing)) == (
        hidden.done,
        hidden.waiting,
        set(hidden.standing),
    )
    assert read.records.keys() == past.records.keys()
    assert {name: record.decisions for name, record in read.records.items()} == {
        name: record.decisions for name, record in past.records.items()
    }
    assert any(record.overrides for record in read.records.values())


@pytest.mark.parametrize("observation", OBSERVED.values(), ids=OBSERVED)
def test_two_observations_differ_in_their_time_alone(
    observation: HubObservation, tmp_path: Path
) -> None:
    first, second = (
        written(observation, tmp_path / "1"),
        written(later(observation), tmp_path / "2"),
    )
    differing = {path for path, text in texts(first).items() if texts(second)[path] != text}
    assert texts(first).keys() == texts(second).keys()
    assert differing == {"observed/hub.yaml"}
    lines = zip(
        *(texts(item)["observed/hub.yaml"].splitlines() for item in (first, second)), strict=True
    )
    assert [old.partition(":")[0].strip() for old, new in lines if old != new] == ["asOf"]


def test_the_order_of_lists_that_servers_fill_does_not_count(tmp_path: Path) -> None:
    apis = [
        {"groupVersion": name, "resources": [{"kind": "B"}, {"kind": "A"}]}
        for name in ("apps/v1", "v1")
    ]
    taints = [{"key": key, "effect": "NoSchedule"} for key in "ab"]
    item = {
        **KARMADA[0],
        "spec": {"syncMode": "Push", "taints": taints},
        "status": {"apiEnablements": apis},
    }
    other = {
        **KARMADA[0],
        "spec": {"syncMode": "Push", "taints": taints[::-1]},
        "status": {
            "apiEnablements": [{**api, "resources": api["resources"][::-1]} for api in apis[::-1]]
        },
    }
    found = [
        texts(
            written(
                HubObservation(system=SYSTEMS["karmada"], as_of=AS_OF, members=(each,)),
                tmp_path / name,
            )
        )
        for name, each in (("1", item), ("2", other))
    ]
    assert found[0] == found[1]


def test_a_line_a_member(tmp_path: Path) -> None:
    folder = written(OBSERVED["kubefleet"], tmp_path / "hub")
    lines = (folder / "observed/ClusterResourcePlacement/shop.json").read_text().splitlines()
    (line,) = [line for line in lines if '"stands"' in line and '"dublin"' in line]
    assert '"decision": {"rank": 0, "revision": 0, "wave": 1}' in line
    assert "apps/v1|Deployment|shop|storefront" in line


def test_who_is_silent_and_what_is_left_out_is_told(tmp_path: Path) -> None:
    silent = attrs.evolve(OBSERVED["kubefleet"], silent={"iowa": "timed out"}, notes=("b", "a"))
    read = read_observation(written(silent, tmp_path / "hub"), KEEPER)
    assert read.silent == {"iowa": Silence("timed out", "")}
    assert read.notes == ("a", "b")


def test_lines_end_in_one_way_and_git_keeps_them(tmp_path: Path) -> None:
    folder = written(OBSERVED["karmada"], tmp_path / "hub")
    assert not any(b"\r" in path.read_bytes() for path in folder.rglob("*") if path.is_file())
    assert all(path.read_bytes().endswith(b"\n") for path in folder.rglob("*") if path.is_file())
    assert "observed/** linguist-generated text eol=lf" in (folder / ".gitattributes").read_text()


@given(st.lists(st.sampled_from(sorted(OBSERVED)), min_size=1, max_size=3))
@settings(max_examples=3)
def test_writing_again_writes_nothing_new(names: list[str]) -> None:
    observation = OBSERVED[names[0]]
    with tempfile.TemporaryDirectory() as place:
        folder = written(observation, Path(place, "hub"))
        for _ in names:
            changes = write_observation(folder, observation, update=True)
            assert changes == Changes()
