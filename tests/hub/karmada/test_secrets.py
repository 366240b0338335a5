"""Secrets of a control plane, of which only the metadata is read: what a plan says of them, and what it cannot say."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from fleet_components.content.outline import data_written, outlined
from fleet_components.hub.folder.writing import write_observation
from fleet_components.hub.observation import HubObservation
from fleet_components.hub.reading import read_hub
from fleet_components.model.manifest import Manifest
from fleet_components.plan.fleet_plan import FleetPlan
from fleet_components.plan.given import Given
from fleet_components.plan.source import gathered
from fleet_components.review.planning.survey import CommandLine, survey
from tests.delivery.recording import Data
from tests.hub.karmada.api import Api
from tests.hub.karmada.settled import changes, planned
from tests.hub.karmada.test_situations import changed
from tests.hub.karmada.world import binding, claimed, fleet, on, policy, stored

KEY = "Template/shop/Secret/pw"
ALL = policy("all", placement=on("a"), resourceSelectors=[{"apiVersion": "v1", "kind": "Secret"}])
FIRST, LATER = "2026-11-23T10:00:00Z", "2026-11-23T11:00:00Z"


def secret(when: str = FIRST, **data: str) -> dict[str, Any]:
    """A Secret whose user has written its data at a time, and Karmada its marks later."""
    fields: Data = {"f:data": {".": {}, **{f"f:{key}": {} for key in data}}, "f:type": {}}
    marks: Data = {"f:metadata": {"f:annotations": {"f:propagationpolicy.karmada.io/name": {}}}}
    managed = [
        {
            "manager": "user",
            "operation": "Update",
            "time": when,
            "fieldsType": "FieldsV1",
            "fieldsV1": fields,
        },
        {
            "manager": "karmada",
            "operation": "Update",
            "time": "2026-11-23T11:59:00Z",
            "fieldsV1": marks,
        },
    ]
    metadata = {"name": "pw", "namespace": "shop", "managedFields": managed}
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": metadata,
        "type": "Opaque",
        "data": data,
    }


def observed(data: Data, *objects: Data) -> HubObservation:
    """The observation of a Secret on a member, of which a plan has nothing to do."""
    found = read_hub(
        Api(
            (*fleet("a", "b"), ALL, claimed(data, ALL), binding(data, ALL, {"a": 0}), *objects)
        ).listing()
    )
    assert list(changes(planned(found))) == []
    return found


def own(**fields: Any) -> dict[str, Any]:
    """The same Secret in a file of a user."""
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": "pw", "namespace": "shop"},
        **fields,
    }


def moves(plan: FleetPlan) -> Mapping[str, str]:
    """What happens to the Secret, by member."""
    (item,) = (subject for subject in plan.subjects if subject.name == KEY)
    return {member: entry.change.value for member, entry in item.entries.items()}


def into(path: str = "/data/p") -> dict[str, Any]:
    """An override policy that writes into the Secret."""
    rule = {
        "overriders": {"plaintext": [{"path": path, "operator": "replace", "value": "b3RoZXI="}]}
    }
    spec = {
        "resourceSelectors": [{"apiVersion": "v1", "kind": "Secret", "name": "pw"}],
        "overrideRules": [rule],
    }
    metadata = {"name": "into", "namespace": "shop"}
    return stored(
        {
            "apiVersion": "policy.karmada.io/v1alpha1",
            "kind": "OverridePolicy",
            "metadata": metadata,
            "spec": spec,
        }
    )


def test_the_names_of_its_data_are_told_and_nothing_else() -> None:
    (data,) = observed(secret(p="aHVudGVyMg==", q="eA==")).objects
    assert data["data"] == {"p": "[secret]", "q": "[secret]"}
    assert data["type"] == "[secret]"


def test_that_its_data_was_written_is_remembered_and_that_karmada_has_marked_it_is_not() -> None:
    found = [observed(secret(when, p="aHVudGVyMg==")) for when in (FIRST, FIRST, LATER)]
    memory = [item.subjects[0].record.memory for item in found]
    assert memory[0] == memory[1]
    assert [item.data_written for item in memory] == [FIRST, FIRST, LATER]
    assert found[0].objects == found[2].objects


@pytest.mark.parametrize(
    "fields",
    [
        {"data": {"p": "b3RoZXI="}},
        {"data": {"p": "b3RoZXI="}, "type": "kubernetes.io/basic-auth", "immutable": True},
        {"stringData": {"p": "other"}},
    ],
)
def test_one_of_a_user_with_the_same_names_cannot_be_compared(fields: Data) -> None:
    plan = changed(observed(secret(p="aHVudGVyMg==")), own(**fields))
    assert list(changes(plan)) == []


def test_one_of_a_user_with_other_names_is_a_change() -> None:
    plan = changed(observed(secret(p="aHVudGVyMg==")), own(data={"p": "b3RoZXI=", "q": "eA=="}))
    assert moves(plan) == {"a": "update"}
    labelled = {
        **own(data={"p": "b3RoZXI="}),
        "metadata": {"name": "pw", "namespace": "shop", "labels": {"a": "b"}},
    }
    assert moves(changed(observed(secret(p="aHVudGVyMg==")), labelled)) == {"a": "update"}


def test_a_plan_says_that_data_in_a_file_is_not_compared(tmp_path: Path) -> None:
    write_observation(tmp_path, observed(secret(p="aHVudGVyMg==")), update=False, secrets=False)
    (before,) = survey([tmp_path], CommandLine()).plans
    assert "given here" not in str(before.warnings)
    (file,) = (path for path in tmp_path.rglob("Secret.pw.yaml"))
    file.write_text(file.read_text().replace("p: '[secret]'", "p: b3RoZXI="))
    (plan,) = survey([tmp_path], CommandLine()).plans
    assert list(changes(plan)) == []
    assert "the data of 1 Secret is given here and not compared: Secret shop/pw" in str(
        plan.warnings
    )
    assert "b3RoZXI=" not in str(plan.warnings)


@pytest.mark.parametrize("path", ["/data/p", "/data/unknown"])
def test_an_override_into_it_leaves_what_runs_as_it_is(path: str) -> None:
    found = observed(secret(p="aHVudGVyMg=="), into(path))
    assert sorted(found.subjects[0].done) == ["a"]
    assert "override policies go into 1 Secret of which the data was not read" in str(found.notes)
    assert not any("another version" in note for note in found.notes)
    again = {**own(data={"p": "[secret]"}, type="[secret]")}
    assert list(changes(changed(found, again))) == []


def test_a_removed_override_into_it_is_a_change() -> None:
    found = observed(secret(p="aHVudGVyMg=="), into())
    plan = planned(found, None)
    assert moves(plan) == {"a": "keep"}
    rest = [
        Manifest(member)
        for member in (*found.members, *found.policies, *found.objects)
        if member["kind"] != "OverridePolicy"
    ]
    assert moves(planned(found, gathered(Given(tuple(rest))))) == {"a": "update"}


def test_without_managed_fields_all_data_is_unknown() -> None:
    item = own(data={"p": "aHVudGVyMg=="})
    (data,) = observed(item).objects
    assert data["data"] == "[secret]"
    assert data_written(item) == ""
    assert list(changes(changed(observed(item), own(data={"p": "b3RoZXI=", "q": "eA=="})))) == []


def test_the_token_of_an_account_is_told_by_its_annotation() -> None:
    metadata = {"name": "t", "annotations": {"kubernetes.io/service-account.name": "a"}}
    token = {"apiVersion": "v1", "kind": "Secret", "metadata": metadata}
    assert outlined(token)["type"] == "kubernetes.io/service-account-token"
