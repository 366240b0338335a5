"""What people write in an observed directory stays as they have written it, and a hub may get all that is to be applied."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import attrs
import pytest
import yaml

from fleet_components import load
from fleet_components.hub.folder.writing import Changes, write_observation
from fleet_components.hub.observation import HubObservation
from fleet_components.model.manifest import Manifest
from fleet_components.systems.framework import System
from fleet_components.systems.karmada.hub.settings import settings_of
from fleet_components.systems.registry import SYSTEMS
from tests.cli.fleets import SECRET
from tests.hub.folder.hubs import KARMADA, kubefleet, later, observed, texts
from tests.hub.folder.test_update import CONFIG, INTO_SECRET, currency, edit, on_hub, updated

WEB = "objects/shop/Deployment.storefront.yaml"


def replicas(number: int) -> Any:
    return lambda item: {**item, "spec": {**item["spec"], "replicas": number}}


def test_an_edit_stays_where_the_hub_changes_another_field(
    folder: Path, observation: HubObservation
) -> None:
    image = re.search(r"image: (\S+)", (folder / WEB).read_text())
    assert image
    edit(folder / WEB, image[0], "image: mine:2")
    scaled = on_hub(observation, "storefront", replicas(7), "Deployment")
    found = updated(folder, scaled)
    assert (found.edited, found.lost) == ((WEB,), ())
    text = (folder / WEB).read_text()
    assert "image: mine:2" in text
    assert "replicas: 7" in text
    assert updated(folder, scaled) == Changes(edited=(WEB,))


def test_comments_and_order_stay_where_the_hub_changes_a_field(
    folder: Path, observation: HubObservation
) -> None:
    data = yaml.safe_load((folder / CONFIG).read_text())
    text = f"# ours\nkind: ConfigMap  # first\n{yaml.safe_dump({key: data[key] for key in ('data', 'metadata')})}apiVersion: v1\n"
    (folder / CONFIG).write_text(text)
    assert updated(folder, later(observation)).edited == ()
    found = updated(folder, on_hub(observation, "storefront", currency("USD"), "ConfigMap"))
    assert (found.lost, found.edited, found.remarks) == ((), (), ())
    assert (folder / CONFIG).read_text() == text.replace("EUR", "USD")


def test_comments_stay_beside_anchors(folder: Path, observation: HubObservation) -> None:
    anchors = "apiVersion: v1\nkind: &k ConfigMap\nmetadata: {name: storefront, namespace: shop, labels: {of: *k}}\n"
    (folder / CONFIG).write_text(f"# ours\n{anchors}data: {{currency: &c EUR, also: *c}}\n")
    found = updated(folder, on_hub(observation, "storefront", currency("USD"), "ConfigMap"))
    assert yaml.safe_load((folder / CONFIG).read_text())["data"] == {
        "currency": "USD",
        "also": "EUR",
    }
    assert "# ours" in (folder / CONFIG).read_text()
    assert found.remarks == ()


def test_secrets_are_apart_until_people_write_them(
    folder: Path, observation: HubObservation
) -> None:
    secret = "objects/shop/Secret.payment.yaml"
    assert (folder / "observed" / secret).exists()
    assert not (folder / secret).exists()
    own = next(item for item in kubefleet() if item["kind"] == "Secret")
    (folder / secret).write_text(f"# ours\n{yaml.safe_dump(own)}")
    for _ in range(2):
        found = updated(folder, later(observation))
        assert (found.edited, found.lost) == ((), ())
        assert not (folder / "observed" / secret).exists()
        assert SECRET in (folder / secret).read_text()
    labelled = on_hub(
        observation,
        "payment",
        lambda item: {**item, "metadata": {**item["metadata"], "labels": {"a": "b"}}},
    )
    assert updated(folder, labelled).lost == ()
    assert (folder / secret).read_text().startswith("# ours")


def test_an_edit_beside_a_secret_is_kept_with_its_file(
    folder: Path, tmp_path: Path, observation: HubObservation
) -> None:
    objects = tuple(item for item in kubefleet() if item["kind"] in ("Secret", "Namespace"))
    plain = attrs.evolve(observation, objects=objects)
    write_observation(tmp_path / "open", plain, update=False, secrets=True)
    file = tmp_path / "open/objects/shop/Secret.payment.yaml"
    edit(file, "metadata:\n", "metadata:\n  labels: {of: us}\n")
    text = file.read_text()
    found = updated(tmp_path / "open", plain)
    assert (found.edited, found.lost) == (("objects/shop/Secret.payment.yaml",), ())
    assert file.read_text() == text


@pytest.mark.parametrize("system", SYSTEMS.values(), ids=str)
def test_a_hub_may_get_all_that_is_in_policies_and_objects(system: System, tmp_path: Path) -> None:
    found = observed(KARMADA if system == SYSTEMS["karmada"] else kubefleet(), system)
    settings = {**settings_of([]), "metadata": {"name": "karmada"}}
    bare = {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": "bare", "namespace": "shop"},
        "type": "Opaque",
    }
    found = attrs.evolve(
        found, policies=(*found.policies, INTO_SECRET, settings), objects=(*found.objects, bare)
    )
    write_observation(tmp_path / "hub", found, update=False)
    below = [
        text
        for path, text in texts(tmp_path / "hub").items()
        if path.startswith(("policies/", "objects/"))
    ]
    assert below
    assert not any(
        "[secret]" in text or "fleet-components" in text or "kind: Secret\n" in text
        for text in below
    )
    assert (tmp_path / "hub/settings/karmada.yaml").exists()
    keys = {item.key for item in load(tmp_path / "hub")}
    assert keys >= {Manifest(item).key for item in (INTO_SECRET, settings, bare)}


def test_settings_that_people_complete_stay(tmp_path: Path) -> None:
    found = observed(KARMADA, SYSTEMS["karmada"])
    found = attrs.evolve(found, policies=(*found.policies, settings_of([])))
    write_observation(tmp_path / "hub", found, update=False)
    edit(
        tmp_path / "hub/settings/karmada.yaml",
        "  exact: true\n",
        "  exact: true  # as its flags say\n  noExecuteEviction: true\n",
    )
    assert updated(tmp_path / "hub", later(found)).edited == ()
    assert "noExecuteEviction: true" in (tmp_path / "hub/settings/karmada.yaml").read_text()


@pytest.mark.parametrize("written", [True, False])
def test_a_flag_that_objects_have_shown_once_stays_when_they_show_it_no_more(
    written: bool, tmp_path: Path
) -> None:
    def showing(**spec: Any) -> HubObservation:
        whole = observed(KARMADA, SYSTEMS["karmada"])
        settings = settings_of([])
        return attrs.evolve(
            whole, policies=(*whole.policies, {**settings, "spec": {**settings["spec"], **spec}})
        )

    folder = tmp_path / "hub"
    write_observation(folder, showing(), update=False)
    if written:
        edit(
            folder / "settings/karmada.yaml",
            "  exact: true\n",
            "  exact: true\n  noExecuteEviction: true\n",
        )
    for item in (showing(noExecuteEviction=True, purgeMode="Directly"), showing(), showing()):
        found = updated(folder, later(item))
        assert (found.edited, found.lost) == ((), ())
        text = (folder / "settings/karmada.yaml").read_text()
        assert "noExecuteEviction: true" in text
        assert "purgeMode: Directly" in text


def test_foreign_files_are_never_touched(folder: Path, observation: HubObservation) -> None:
    own = {
        "README.md": "# [hub", "policies/README.md": "x", ".github/workflows/a.yml": "a: [", ".DS_Store": "\0",
        "objects/shop/ConfigMap.storefront.yaml~": "a: [", "values.yaml": "image: {tag: 1}\n", "own/notes.txt": "x",
        "observed/notes.txt": "x", "kustomize/kustomization.yaml": "resources: [../objects]\n", "odd.yaml": "a: [",
        "spec.yaml": "apiVersion: v1\nkind: A\nmetadata: {name: a}\nspec: text\n",
    }  # fmt: skip
    for path, text in own.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    changed = on_hub(observation, "storefront", currency("USD"), "ConfigMap")
    assert set(updated(folder, changed).changed) == {
        CONFIG,
        "observed/files.json",
        "observed/hub.yaml",
    }
    assert {path: (folder / path).read_text() for path in own} == own


def test_of_a_secret_that_people_have_in_part_nothing_is_written_beside_it(
    tmp_path: Path, observation: HubObservation
) -> None:
    objects = tuple(item for item in kubefleet() if item["kind"] in ("Secret", "Namespace"))
    for place in ("mine.yaml", "objects/shop/Secret.payment.yaml"):
        folder = tmp_path / place.partition("/")[0]
        write_observation(folder, observation, update=False, secrets=True)
        (folder / "observed/files.json").write_text(
            (folder / "observed/files.json").read_text().replace("Secret.payment", "Secret.former")
        )
        for file in folder.rglob("Secret.payment.yaml"):
            file.unlink()
        own = {
            "apiVersion": "v1",
            "kind": "Secret",
            "metadata": {"name": "payment", "namespace": "shop"},
        }
        text = f"# ours\n{yaml.safe_dump({**own, 'stringData': {'b': 'c'}, 'data': {}})}"
        (folder / place).parent.mkdir(parents=True, exist_ok=True)
        (folder / place).write_text(text)
        found = updated(folder, attrs.evolve(observation, objects=objects), secrets=True)
        assert (found.edited, found.lost) == ((place,), ())
        assert "stringData" in (folder / place).read_text()
        shown = {path for path, text in texts(folder).items() if SECRET in text}
        assert shown <= set(found.private)
        assert all((folder / path).stat().st_mode & 0o077 == 0 for path in shown)
        assert all((folder / path).exists() for path in found.private)


def test_a_secret_that_people_have_touched_stays_with_its_data(
    tmp_path: Path, observation: HubObservation
) -> None:
    objects = tuple(item for item in kubefleet() if item["kind"] in ("Secret", "Namespace"))
    plain = attrs.evolve(observation, objects=objects)
    write_observation(tmp_path / "open", plain, update=False, secrets=True)
    file = tmp_path / "open/objects/shop/Secret.payment.yaml"
    file.write_text(f"# ours\n{file.read_text()}")
    assert updated(tmp_path / "open", plain).removed == ()
    assert SECRET in file.read_text()


def test_people_may_leave_out_the_namespace_default(
    folder: Path, observation: HubObservation
) -> None:
    item = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "c", "namespace": "default"},
    }
    plain = attrs.evolve(observation, objects=(*observation.objects, {**item, "data": {"k": "v"}}))
    (folder / "mine.yaml").write_text(
        yaml.safe_dump({**item, "metadata": {"name": "c"}, "data": {"k": "mine"}})
    )
    found = updated(folder, plain)
    assert (found.edited, found.lost) == (("mine.yaml",), ())
    assert not (folder / "objects/default/ConfigMap.c.yaml").exists()


def test_an_object_that_was_written_in_the_place_of_a_removed_one_stays(
    folder: Path, observation: HubObservation
) -> None:
    edit(folder / CONFIG, "name: storefront", "name: other")
    found = updated(folder, on_hub(observation, "storefront", lambda _: None, "ConfigMap"))
    assert (found.edited, found.lost, found.removed) == ((CONFIG,), (), ())
    assert "name: other" in (folder / CONFIG).read_text()
