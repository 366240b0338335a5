"""Who gets in, and how: roles by name, kubeconfigs that need nobody at a keyboard."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

pytest.importorskip("pulumi_azure_native")

from fleet_components.azure import (
    AzureAccess,
    AzureAccessArgs,
    AzureFleet,
    AzureFleetArgs,
    AzureHub,
    AzureHubArgs,
    Grant,
    Login,
)
from fleet_components.azure.components.arm import ROLES
from fleet_components.azure.components.kubeconfig import with_login
from tests.azure import world
from tests.azure.build import GUID, aks

KEPT = ["--environment", "AzurePublicCloud", "--server-id", "aks", "--login"]


def args_of(kubeconfig: str) -> list[str]:
    args: list[str] = yaml.safe_load(kubeconfig)["users"][0]["user"]["exec"]["args"]
    return args


@pytest.mark.parametrize(
    ("login", "args"),
    [
        (Login(), ["azurecli"]),
        (Login("msi"), ["msi"]),
        (Login("msi", client_id="me"), ["msi", "--client-id", "me"]),
        (Login("workloadidentity", tenant="t"), ["workloadidentity", "--tenant-id", "t"]),
        (Login("spn", client_id="me"), ["spn", "--client-id", "me", "--tenant-id", "ours"]),
        (
            Login("azurepipelines", client_id="me", tenant="t", service_connection="sc"),
            [
                *("azurepipelines", "--client-id", "me", "--tenant-id", "t"),
                *("--azure-pipelines-service-connection-id", "sc"),
            ],
        ),
    ],
)
def test_the_login_is_the_one_asked_for(login: Login, args: list[str]) -> None:
    converted = with_login(world.KUBECONFIG, login)
    assert args_of(converted) == ["get-token", *KEPT, *args]
    assert args_of(with_login(converted, login)) == args_of(converted)


def test_certificates_stay_as_they_are() -> None:
    plain = "users:\n- name: a\n  user:\n    client-certificate-data: x\n"
    assert yaml.safe_load(with_login(plain, Login())) == yaml.safe_load(plain)


def test_both_kubeconfigs_of_a_fleet_sign_in_as_asked() -> None:
    made: dict[str, str] = {}

    def program() -> None:
        login = Login("spn", client_id="me")
        hub = AzureHubArgs(resource_group="rg", region="westeurope", login=login)
        fleet = AzureFleet("shop", AzureFleetArgs(members=(aks(),), hub=hub, login=login))
        fleet.kubeconfigs["weu-1"].apply(lambda text: made.update(member=text))
        assert isinstance(fleet.hub, AzureHub)
        assert fleet.hub.kubeconfig is not None
        fleet.hub.kubeconfig.apply(lambda text: made.update(hub=text))

    assert world.run(program).error is None
    assert {"spn" in args_of(text) for text in made.values()} == {True}
    assert set(made) == {"member", "hub"}


@pytest.mark.parametrize("kind", ["public", "hubless"])
@pytest.mark.parametrize("how", ["file", "text"])
def test_a_hub_with_a_kubeconfig_of_ones_own(tmp_path: Path, kind: str, how: str) -> None:
    made: list[str] = []
    file = tmp_path / "hub.kubeconfig"
    file.write_text("users: []")
    own: dict[str, Any] = (
        {"kubeconfig_file": str(file)} if how == "file" else {"kubeconfig": "users: []"}
    )

    def program() -> None:
        hub = AzureHub(
            "shop",
            AzureHubArgs(**{"resource_group": "rg", "region": "westeurope", "kind": kind, **own}),
        )
        assert hub.kubeconfig is not None
        hub.kubeconfig.apply(made.append)

    run = world.run(program)
    if kind == "hubless":
        assert "a hubless fleet has no hub cluster" in str(run.error)
    else:
        assert (run.error, made, run.calls) == (None, ["users: []"], ())


def test_a_missing_kubeconfig_of_a_hub() -> None:
    args: dict[str, Any] = {
        "resource_group": "rg",
        "region": "westeurope",
        "kubeconfig_file": "not-there",
    }
    error = world.run(lambda: AzureHub("shop", AzureHubArgs(**args))).error
    assert 'there is no file "not-there"' in str(error)


def test_a_grant_is_a_role_assignment_at_its_scope() -> None:
    def program() -> None:
        hub = AzureHub("shop", AzureHubArgs(resource_group="rg", region="westeurope"))
        role = "Azure Kubernetes Fleet Manager RBAC Writer"
        grants = (
            Grant(to="devs", principal=GUID, role=role, namespace="shop"),
            Grant(to="ci", principal=GUID, role=role, kind="ServicePrincipal"),
        )
        AzureAccess("who", AzureAccessArgs(scope=hub.fleet_id, grants=grants))

    run = world.run(program)
    devs = run.named("who-devs-fleet-manager-rbac-writer-shop").inputs
    assert devs["scope"].endswith("/shop/managedNamespaces/shop")
    assert devs["principalId"] == GUID
    assert devs["roleDefinitionId"] == (
        f"/subscriptions/{world.SUBSCRIPTION}/providers/Microsoft.Authorization/roleDefinitions/"
        "5af6afb3-c06c-4fa4-8848-71a8aee05683"
    )
    assert (
        run.named("who-ci-fleet-manager-rbac-writer").inputs["principalType"] == "ServicePrincipal"
    )


def test_taints_wait_for_the_grants_of_the_hub() -> None:
    grant = Grant(
        to="ci",
        principal=GUID,
        role="Azure Kubernetes Fleet Manager RBAC Cluster Admin",
        kind="ServicePrincipal",
    )
    hub = AzureHubArgs(resource_group="rg", region="westeurope", grants=(grant,))
    run = world.run(lambda: AzureFleet("shop", AzureFleetArgs(members=(aks(),), hub=hub)))
    assert "shop-ci-fleet-manager-rbac-cluster-admin" in run.named("shop-hub").after


def test_another_role_is_another_assignment() -> None:
    keys = {Grant(to="devs", principal=GUID, role=role).key for role in ROLES}
    assert len(keys) == len(ROLES)
