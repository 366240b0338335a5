"""A directory that is brought up to date: only what has changed, and nothing of what people have written is lost."""

from __future__ import annotations

import copy
import os
import stat
from collections.abc import Iterable
from datetime import timedelta
from pathlib import Path
from typing import Any

import attrs
import pytest
import yaml

from fleet_components import FleetError, load
from fleet_components.hub.folder.reading import read_observation
from fleet_components.hub.folder.writing import Changes, write_observation
from fleet_components.hub.observation import HubObservation
from fleet_components.model.manifest import Manifest
from fleet_components.plan.stored import Keeper
from fleet_components.systems.framework import System
from fleet_components.systems.registry import SYSTEMS
from tests.cli.fleets import SECRET
from tests.hub.folder.hubs import KARMADA, kubefleet, later, observed, texts

POLICY = "policies/ClusterResourcePlacement/shop.yaml"
CONFIG = "objects/shop/ConfigMap.storefront.yaml"
MEMBER, PART = "members/dublin.yaml", "observed/members/dublin.yaml"
KEEPER = Keeper("local", "fleet")
INTO_SECRET = {
    "apiVersion": "policy.karmada.io/v1alpha1",
    "kind": "OverridePolicy",
    "metadata": {"name": "into", "namespace": "shop"},
    "spec": {
        "resourceSelectors": [{"apiVersion": "v1", "kind": "Secret"}],
        "overrideRules": [
            {
                "overriders": {
                    "plaintext": [{"path": "/data/p", "operator": "add", "value": SECRET}]
                }
            },
        ],
    },
}
"""An override policy that gives Secrets a value."""


def edit(file: Path, old: str, new: str) -> None:
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new))


def on_hub(observation: HubObservation, name: str, change: Any, kind: str = "") -> HubObservation:
    """The hub after somebody has changed the objects of a name there; None for no object."""

    def changed(objects: Iterable[Any]) -> tuple[Any, ...]:
        found = []
        for data in objects:
            if Manifest(data).name == name and kind in ("", Manifest(data).kind):
                data = change(copy.deepcopy(data))
            found += [data] if data else []
        return tuple(found)

    parts = {
        field: changed(getattr(observation, field)) for field in ("members", "policies", "objects")
    }
    return later(observation, **parts)


def currency(code: str) -> Any:
    return lambda item: {**item, "data": {"currency": code}}


def updated(folder: Path, observation: HubObservation, **more: Any) -> Changes:
    return write_observation(folder, observation, update=True, **more)


@pytest.mark.parametrize(("hours", "written"), [(1, ()), (12, ()), (13, ("observed/hub.yaml",))])
def test_of_a_hub_that_has_not_changed_only_an_old_time_is_written(
    hours: int, written: tuple[str, ...], folder: Path, observation: HubObservation
) -> None:
    before = {path: os.stat(folder / path).st_mtime_ns for path in texts(folder)}
    at = observation.as_of + timedelta(hours=hours)
    assert updated(folder, later(observation, as_of=at)) == Changes(changed=written)
    assert read_observation(folder, KEEPER).as_of == (at if written else observation.as_of)
    after = {path: os.stat(folder / path).st_mtime_ns for path in texts(folder)}
    assert {path for path in before if before[path] != after[path]} == set(written)


def test_what_the_hub_has_changed_is_written(folder: Path, observation: HubObservation) -> None:
    found = updated(folder, on_hub(observation, "storefront", currency("CHF"), "ConfigMap"))
    assert found == Changes(changed=(CONFIG, "observed/files.json", "observed/hub.yaml"))
    assert "CHF" in (folder / CONFIG).read_text()


def test_what_is_new_on_the_hub_is_added_and_what_is_gone_is_removed(
    folder: Path, observation: HubObservation
) -> None:
    new = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "more"}}
    gone = on_hub(observation, "storefront", lambda item: None, "ConfigMap")
    found = updated(folder, attrs.evolve(gone, objects=(*gone.objects, new)))
    assert found.added == ("objects/Namespace.more.yaml",)
    assert found.removed == (CONFIG,)


def test_a_subject_that_is_gone_takes_its_memory_along(
    folder: Path, observation: HubObservation
) -> None:
    found = updated(
        folder,
        later(
            on_hub(observation, "shop", lambda item: None, "ClusterResourcePlacement"), subjects=()
        ),
    )
    assert set(found.removed) == {POLICY, "observed/ClusterResourcePlacement/shop.json"}
    assert not (folder / "policies").exists()
    assert not (folder / "observed/ClusterResourcePlacement").exists()


def test_files_of_the_user_stay(folder: Path, observation: HubObservation) -> None:
    own = {
        "README.md": "read me",
        "more/run.yaml": yaml.safe_dump(KARMADA[3]),
        "objects/notes.txt": "x",
    }
    for path, text in own.items():
        (folder / path).parent.mkdir(exist_ok=True)
        (folder / path).write_text(text)
    (folder / ".gitattributes").write_text(
        "*.md text\nobserved/** linguist-generated text eol=lf\n"
    )
    found = updated(folder, on_hub(observation, "storefront", lambda item: None, "ConfigMap"))
    assert {path: (folder / path).read_text() for path in own} == own
    assert found.removed == (CONFIG,)
    assert found.edited == ()  # the hub has the Namespace


def test_a_merged_change_stays_until_the_hub_has_it(
    folder: Path, observation: HubObservation
) -> None:
    edit(folder / CONFIG, "EUR", "CHF")
    text = (folder / CONFIG).read_text()
    for _ in range(2):
        found = updated(folder, later(observation))
        assert (found.edited, found.lost, CONFIG in found.changed) == ((CONFIG,), (), False)
        assert (folder / CONFIG).read_text() == text
    found = updated(folder, on_hub(observation, "storefront", currency("CHF"), "ConfigMap"))
    assert (found.edited, found.lost) == ((), ())
    assert (folder / CONFIG).read_text() == text


def test_comments_stay_where_the_hub_says_the_same(
    folder: Path, observation: HubObservation
) -> None:
    edit(folder / CONFIG, "\ndata:\n", "\n# agreed with sales\ndata:\n")
    assert updated(folder, later(observation)) == Changes()
    assert "agreed with sales" in (folder / CONFIG).read_text()


def test_where_both_have_changed_the_same_the_hub_counts_and_it_is_said(
    folder: Path, observation: HubObservation
) -> None:
    edit(folder / CONFIG, "EUR", "CHF")
    found = updated(folder, on_hub(observation, "storefront", currency("USD"), "ConfigMap"))
    assert found.lost == (f"{CONFIG}: data.currency: had CHF, the hub has USD",)
    assert "USD" in (folder / CONFIG).read_text()
    assert found.edited == ()


def test_a_label_of_a_member_stays_while_its_properties_change(
    folder: Path, observation: HubObservation
) -> None:
    edit(folder / MEMBER, "region: europe", "region: west")
    price = {"kubernetes.azure.com/per-cpu-core-cost": {"value": "0.1"}}
    cheaper = on_hub(observation, "dublin", lambda item: {**item, "status": {"properties": price}})
    found = updated(folder, cheaper)
    assert (found.edited, found.lost) == ((MEMBER,), ())
    assert "region: west" in (folder / MEMBER).read_text()
    assert yaml.safe_load((folder / PART).read_text())["status"] == {"properties": price}
    assert updated(folder, cheaper) == Changes(edited=(MEMBER,))


def test_what_changes_by_itself_in_a_member_is_in_a_file_of_its_own(
    folder: Path, observation: HubObservation
) -> None:
    assert yaml.safe_load((folder / MEMBER).read_text()).keys() == {
        "apiVersion",
        "kind",
        "metadata",
        "spec",
    }
    part = yaml.safe_load((folder / PART).read_text())
    assert (part.keys(), part["metadata"]) == (
        {"apiVersion", "kind", "metadata", "status"},
        {"name": "dublin"},
    )
    used = {
        "resourceUsage": {what: {"cpu": "4"} for what in ("capacity", "allocatable", "available")}
    }
    found = updated(folder, on_hub(observation, "dublin", lambda item: {**item, "status": used}))
    assert (found.changed, found.edited, found.lost) == (("observed/hub.yaml", PART), (), ())
    found = updated(folder, on_hub(observation, "dublin", lambda item: None, "MemberCluster"))
    assert {MEMBER, PART} <= set(found.removed)


def test_a_member_that_a_pull_request_removes_stays_away(
    folder: Path, observation: HubObservation
) -> None:
    (folder / MEMBER).unlink()
    found = updated(folder, later(observation))
    assert (found.edited, found.added) == ((MEMBER,), ())
    assert "dublin" not in {item.name for item in load(folder)}


def test_a_policy_of_a_pull_request_stays_and_is_the_hubs_once_it_is_applied(
    folder: Path, observation: HubObservation
) -> None:
    new = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "new", "namespace": "shop"},
        "data": {"a": "b"},
    }
    path = "objects/shop/ConfigMap.new.yaml"
    (folder / path).write_text(yaml.safe_dump(new))
    found = updated(folder, later(observation))
    assert (found.edited, found.removed) == ((path,), ())
    as_stored = {**new, "immutable": False}
    stored = later(observation, objects=(*observation.objects, as_stored))
    found = updated(folder, stored)
    assert (found.edited, found.lost, found.added) == ((), (), (f"observed/{path}",))
    assert yaml.safe_load((folder / path).read_text()) == new
    assert yaml.safe_load((folder / f"observed/{path}").read_text()) == as_stored
    assert updated(folder, stored) == Changes()


def test_an_object_in_a_file_of_the_users_own_is_not_written_twice(
    folder: Path, observation: HubObservation
) -> None:
    new = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "new"}}
    (folder / "mine.yaml").write_text(yaml.safe_dump(new))
    assert updated(folder, later(observation)).edited == ("mine.yaml",)
    for metadata, edited in (({"labels": {"a": "b"}}, ()), ({"name": "new"}, ())):
        hub = {**new, "metadata": {**new["metadata"], **metadata}}  # type: ignore[dict-item]
        found = updated(folder, later(observation, objects=(*observation.objects, hub)))
        assert (set(found.added) - {"observed/objects/Namespace.new.yaml"}, found.edited) == (
            set(),
            edited,
        )
    (folder / "mine.yaml").write_text(
        yaml.safe_dump({**new, "metadata": {"name": "new", "labels": {"a": "c"}}})
    )
    found = updated(folder, later(observation, objects=(*observation.objects, new)))
    assert (found.added, found.edited) == ((), ("mine.yaml",))


def test_what_a_pull_request_has_removed_stays_away(
    folder: Path, observation: HubObservation
) -> None:
    (folder / CONFIG).unlink()
    found = updated(folder, later(observation))
    assert (found.added, found.edited) == ((), (CONFIG,))
    found = updated(folder, on_hub(observation, "storefront", currency("USD"), "ConfigMap"))
    assert found.added == (CONFIG,)
    assert found.lost == (f"{CONFIG}: was removed here, and the hub has changed it",)


def test_what_was_edited_and_is_gone_on_the_hub_is_said(
    folder: Path, observation: HubObservation
) -> None:
    edit(folder / CONFIG, "EUR", "CHF")
    found = updated(folder, on_hub(observation, "storefront", lambda item: None, "ConfigMap"))
    assert found.removed == (CONFIG,)
    assert found.lost == (f"{CONFIG}: data.currency: had CHF, the hub has it no more",)


@pytest.mark.parametrize("text", ["a: [", "{}", "kind: A\n---\nkind: B\n", "", "\xff"])
def test_a_file_that_cannot_be_read_is_never_overwritten(
    text: str, folder: Path, observation: HubObservation
) -> None:
    (folder / CONFIG).write_bytes(text.encode("latin-1"))
    for hub in (
        later(observation),
        on_hub(observation, "storefront", currency("USD"), "ConfigMap"),
    ):
        found = updated(folder, hub)
        assert (found.edited, found.lost) == ((CONFIG,), ())
        assert (folder / CONFIG).read_bytes() == text.encode("latin-1")


def test_a_file_with_other_objects_too_is_one_of_people(
    folder: Path, observation: HubObservation
) -> None:
    more = "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: more, namespace: shop}\n"
    text = (folder / CONFIG).read_text() + more
    (folder / CONFIG).write_text(text)
    assert updated(folder, later(observation)).edited == (CONFIG,)
    dollars = on_hub(observation, "storefront", currency("USD"), "ConfigMap")
    assert updated(folder, dollars).edited == (CONFIG,)
    assert (folder / CONFIG).read_text() == text


def test_a_silent_member_keeps_its_record_with_its_age(
    folder: Path, observation: HubObservation
) -> None:
    heard = tuple(member for member in observation.members if Manifest(member).name != "iowa")
    for _ in range(2):
        found = updated(folder, later(observation, members=heard, silent={"iowa": "timed out"}))
        assert "members/iowa.yaml" not in found.removed
        silence = read_observation(folder, KEEPER).silent["iowa"]
        assert (silence.why, silence.since) == ("timed out", "2026-11-23T18:00:00Z")
    updated(folder, later(observation))
    assert read_observation(folder, KEEPER).silent == {}


def test_secrets_are_hidden_unless_they_are_asked_for(
    folder: Path, tmp_path: Path, observation: HubObservation
) -> None:
    objects = tuple(item for item in kubefleet() if item["kind"] in ("Secret", "Namespace"))
    plain = attrs.evolve(
        observation, objects=objects, policies=(*observation.policies, INTO_SECRET)
    )
    assert updated(folder, plain).private == ()
    assert all(SECRET not in text for text in texts(folder).values())
    found = write_observation(tmp_path / "open", plain, update=False, secrets=True)
    private = ("objects/shop/Secret.payment.yaml", "policies/OverridePolicy/shop.into.yaml")
    assert found.private == private
    assert (
        tuple(name for name, text in texts(tmp_path / "open").items() if SECRET in text) == private
    )
    assert {stat.S_IMODE((tmp_path / "open" / path).stat().st_mode) for path in private} == {0o600}
    updated(tmp_path / "open", plain)
    assert all(SECRET not in text for text in texts(tmp_path / "open").values())


@pytest.mark.parametrize(
    "text", [None, "{", "<<<<<<< HEAD\n{}", '{"objects": {"a": 1}, "memory": {}}']
)
def test_without_an_inventory_files_count_and_are_named(
    text: str | None, folder: Path, observation: HubObservation
) -> None:
    edit(folder / CONFIG, "EUR", "CHF")
    (folder / "mine.yaml").write_text(yaml.safe_dump({**KARMADA[3], "metadata": {"name": "mine"}}))
    (folder / "observed/files.json").unlink()
    if text is not None:
        (folder / "observed/files.json").write_text(text)
    found = updated(folder, later(observation))
    assert (found.edited, found.lost) == (tuple(sorted((CONFIG, "mine.yaml"))), ())
    assert "CHF" in (folder / CONFIG).read_text()
    assert "was missing or damaged" in found.remarks[0]
    read_observation(folder, KEEPER)
    again = updated(folder, later(observation))
    assert (again.edited, again.remarks, again.changed) == (found.edited, (), ())


REFUSED = [
    (SYSTEMS["karmada"], True, "was observed for kubefleet, not for karmada"),
    (SYSTEMS["kubefleet"], False, "is an observed directory"),
]


@pytest.mark.parametrize(("system", "update", "what"), REFUSED)
def test_another_directory_is_asked_for(
    system: System, update: bool, what: str, folder: Path
) -> None:
    before = texts(folder)
    with pytest.raises(FleetError, match=what):
        write_observation(
            folder,
            HubObservation(system=system, as_of=later(observed(KARMADA, SYSTEMS["karmada"])).as_of),
            update=update,
        )
    assert texts(folder) == before


@pytest.mark.parametrize("header", ["<<<<<<< HEAD\n", "", None])
@pytest.mark.parametrize("inventory", [True, False])
def test_members_tell_the_system_where_the_header_is_damaged(
    header: str | None, inventory: bool, observation: HubObservation, tmp_path: Path
) -> None:
    karmada = observed(KARMADA, SYSTEMS["karmada"])
    for item, other in ((observation, karmada), (karmada, observation)):
        folder = tmp_path / str(item.system)
        write_observation(folder, item, update=False)
        (folder / "observed/hub.yaml").unlink()
        if header is not None:
            (folder / "observed/hub.yaml").write_text(header)
        if header == "" and not inventory:
            (folder / "observed/files.json").unlink()
        before = texts(folder)
        with pytest.raises(
            FleetError, match=f"was observed for {item.system}, not for {other.system}"
        ):
            write_observation(folder, later(other), update=True)
        assert texts(folder) == before
        write_observation(folder, later(item), update=True)


def test_files_of_others_are_not_brought_up_to_date(
    tmp_path: Path, observation: HubObservation
) -> None:
    (tmp_path / "mine.yaml").write_text("mine")
    with pytest.raises(FleetError, match="is not an observed directory"):
        updated(tmp_path, observation)
    assert texts(tmp_path) == {"mine.yaml": "mine"}


@pytest.mark.parametrize("there", [(), (".gitkeep",)])
def test_where_nothing_is_an_update_is_the_first_observation(
    tmp_path: Path, observation: HubObservation, there: tuple[str, ...]
) -> None:
    made, folder = tmp_path / "made", tmp_path / "updated"
    write_observation(made, observation, update=False)
    if there:
        folder.mkdir()
    for name in there:
        (folder / name).write_text("")
    write_observation(folder, observation, update=True)
    assert {path: text for path, text in texts(folder).items() if path not in there} == texts(made)


def test_a_file_in_the_way_is_not_replaced(tmp_path: Path, observation: HubObservation) -> None:
    (tmp_path / CONFIG).parent.mkdir(parents=True)
    (tmp_path / CONFIG).write_text("mine")
    (tmp_path / "README.md").write_text("mine")
    with pytest.raises(FleetError, match="is in the way, and no observation has written it"):
        write_observation(tmp_path, observation, update=False)
    assert texts(tmp_path).keys() == {CONFIG, "README.md"}


@pytest.mark.parametrize(
    "path", ["objects", "objects/shop", "observed", CONFIG, "observed/hub.yaml"]
)
def test_nothing_is_written_through_a_link(
    path: str, folder: Path, tmp_path: Path, observation: HubObservation
) -> None:
    (folder / path).rename(tmp_path / "elsewhere")
    (folder / path).symlink_to(tmp_path / "elsewhere")
    with pytest.raises(FleetError, match="is a link, which"):
        updated(folder, on_hub(observation, "storefront", currency("USD"), "ConfigMap"))
