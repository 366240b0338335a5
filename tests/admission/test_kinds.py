"""A kind of ours that stands under a wrong group or version, or is misspelt, is refused with what was meant."""

from __future__ import annotations

from typing import Any

import pytest

from fleet_components import FleetError, source_of
from fleet_components.admission import KINDS, admit, misnamed
from fleet_components.model.kinds import BUILT_IN
from fleet_components.model.manifest import Manifest

NAMES = sorted({kind.name for kind in KINDS.values()})
COMMON = ("ApprovalRequest", "Cluster")
"""Other systems have kinds of these names."""
NEARLY = (
    "v1",
    "cluster.kubernetes-fleet.io/v1",
    "placement.kubernetes-fleet.io/v1",
    "placement.kubernetes-fleet.com/v1",
    "apps.karmada.io/v1alpha1",
    "cluster.karmada.io/v1alpha1",
    "config.karmada.io/v1alpha1",
    "policy.karmada.io/v1beta1",
    "policy.karmda.io/v1alpha1",
)
OTHERS = ("apps/v1", "core.kubeadmiral.io/v1alpha1", "example.com/v1", "fleet.azure.com/v1alpha1")
NOT_OURS = [
    *(("fleet.azure.com/v1", kind) for kind in ("Work", "InternalMemberCluster")),
    *(
        ("cluster.x-k8s.io/v1beta1", kind)
        for kind in ("Cluster", "ClusterClass", "MachineDeployment")
    ),
    *(("cluster.open-cluster-management.io/v1", kind) for kind in ("ManagedCluster", "Placement")),
    ("work.karmada.io/v1alpha2", "ClusterResourceBinding"),
    ("work.karmada.io/v1alpha2", "ResourceBinding"),
    ("networking.karmada.io/v1alpha1", "MultiClusterService"),
    ("autoscaling.karmada.io/v1alpha1", "FederatedHPA"),
    ("config.karmada.io/v1alpha1", "ResourceInterpreterCustomization"),
    ("policy.karmada.io/v1alpha1", "FederatedResourceQuota"),
    ("placement.kubernetes-fleet.io/v1", "ClusterResourceSnapshot"),
]


def served(name: str) -> list[str]:
    return [api_version for api_version, kind in KINDS if kind == name]


def made(api_version: str, kind: str) -> Manifest:
    return Manifest(
        {"apiVersion": api_version, "kind": kind, "metadata": {"name": "x"}, "spec": {}}
    )


def refused(api_version: str, kind: str) -> tuple[str, str]:
    """What the source says of an object: the field, and the hint."""
    with pytest.raises(FleetError) as error:
        source_of([made(api_version, kind)])
    (problem,) = error.value.problems
    assert problem.what == f'no matches for kind "{kind}" in version "{api_version}"'
    return str(problem.path[0]), problem.hint


@pytest.mark.parametrize("api_version", [*NEARLY, *OTHERS])
@pytest.mark.parametrize("name", NAMES)
def test_under_another_group_or_version(name: str, api_version: str) -> None:
    if api_version in served(name) or (name in COMMON and api_version in OTHERS):
        assert not misnamed(made(api_version, name))
        return
    field, hint = refused(api_version, name)
    if (api_version.partition("/")[0], name) == ("cluster.kubernetes-fleet.io", "Cluster"):
        assert (field, hint) == ("kind", "write kind: MemberCluster")
    else:
        assert field == "apiVersion"
        assert hint in [f"write apiVersion: {version}" for version in served(name)]


@pytest.mark.parametrize("api_version", [*NEARLY, *OTHERS])
@pytest.mark.parametrize("name", NAMES)
def test_misspelt(name: str, api_version: str) -> None:
    half = len(name) // 2
    wrong = name[:half] + name[half + 1 :]
    if name in COMMON and api_version.partition("/")[0] not in served(name)[0]:
        return
    field, hint = refused(api_version, wrong)
    if api_version in served(name):
        assert (field, hint) == ("kind", f"write kind: {name}")
    else:
        assert field == "apiVersion"
        assert hint in [f"write apiVersion: {version} and kind: {name}" for version in served(name)]


def test_part_of_a_name_is_told_with_all_that_have_it() -> None:
    names = "ClusterResourcePlacement, ResourcePlacement, ClusterResourcePlacementEviction"
    assert refused("placement.kubernetes-fleet.io/v1", "Placement")[1].startswith(
        f"write one of {names}"
    )
    assert "ClusterResourceEnvelope" in refused("placement.kubernetes-fleet.io/v1", "Gadget")[1]


@pytest.mark.parametrize("written", ["v1", "v1beta1"])
def test_the_version_that_was_written_is_kept_where_it_is_served(written: str) -> None:
    group = "placement.kubernetes-fleet"
    assert (
        refused(f"{group}.com/{written}", "ResourcePlacement")[1]
        == f"write apiVersion: {group}.io/{written}"
    )


@pytest.mark.parametrize(("api_version", "kind"), NOT_OURS)
def test_kinds_of_others_are_left_alone(api_version: str, kind: str) -> None:
    assert not misnamed(made(api_version, kind))
    assert not admit(made(api_version, kind)).refusals


def test_no_kind_that_every_control_plane_serves_is_taken_for_one_of_ours() -> None:
    others = [
        (group, kind)
        for group, kind in BUILT_IN
        if not group.endswith((".kubernetes-fleet.io", ".karmada.io"))
    ]
    assert others
    for group, kind in others:
        assert not misnamed(made(f"{group}/v1".lstrip("/"), kind)), (group, kind)


def test_what_the_source_defines_itself_is_no_kind_of_ours() -> None:
    names = {"kind": "OverridePolicy", "plural": "overridepolicies"}
    spec = {
        "group": "example.com",
        "names": names,
        "scope": "Cluster",
        "versions": [{"name": "v1", "served": True}],
    }
    metadata = {"name": "overridepolicies.example.com"}
    kind = {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition"}
    definition: dict[str, Any] = {**kind, "metadata": metadata, "spec": spec}
    source = source_of([made("example.com/v1", "OverridePolicy"), Manifest(definition)])
    assert len(source.catalogue.manifests) == 2


@pytest.mark.parametrize(
    ("api_version", "kind", "path", "hint"),
    [
        ("fleet-components/v1", "KarmadaSetings", "kind", "write kind: KarmadaSettings"),
        (
            "fleet-components/v1",
            "Gadget",
            "kind",
            "write one of ApplicationHealth, Chart, Hub, KarmadaSettings, Kustomization, Members, Upgrades",
        ),
        (
            "fleet-components/v2",
            "KarmadaSettings",
            "apiVersion",
            "write apiVersion: fleet-components/v1",
        ),
    ],
)
def test_declarations_of_our_own(api_version: str, kind: str, path: str, hint: str) -> None:
    with pytest.raises(FleetError) as error:
        source_of([made(api_version, kind)])
    (problem,) = error.value.problems
    assert (problem.path, problem.hint) == ((path,), hint)
