"""Optional features of clusters: the request of each, what is refused, and what may change later."""

from __future__ import annotations

import base64
import copy
from typing import Any

import attrs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("pulumi_azure_native")

from fleet_components.azure import (
    AksMember,
    ApiServer,
    Autoscaler,
    AzureMember,
    AzureMemberArgs,
    ContainerInsights,
    Defender,
    HttpProxy,
    ImageCleaner,
    KeyVaultSecrets,
    Network,
    NodePool,
    PoolUpgrade,
    Prometheus,
    ServiceMesh,
    WebAppRouting,
)
from fleet_components.azure.components.cluster_features import feature_request
from fleet_components.azure.values.vm_size import built_in_sizes
from tests.azure import arm, world
from tests.azure.build import GUID, SYSTEM_POOL, aks, pool

pytestmark = pytest.mark.long

GROUP = f"/subscriptions/{GUID}/resourceGroups/rg/providers"
WORKSPACE = f"{GROUP}/Microsoft.OperationalInsights/workspaces/logs"
ZONE = f"{GROUP}/Microsoft.Network/dnsZones/shop.example"
PRIVATE_ZONE = f"{GROUP}/Microsoft.Network/privateDnsZones/shop.internal"
KEYS = f"{GROUP}/Microsoft.Compute/diskEncryptionSets/keys"
OWN = f"{GROUP}/Microsoft.ManagedIdentity/userAssignedIdentities/own"
NODES, PODS, SERVER = (
    f"{GROUP}/Microsoft.Network/virtualNetworks/v/subnets/{name}" for name in ("n", "p", "s")
)
CERTIFICATE = base64.b64encode(
    b"-----BEGIN CERTIFICATE-----\nAA==\n-----END CERTIFICATE-----\n"
).decode()
FLAT = Network(overlay=False)

# By name: the declared fields, and what they make of the properties of the cluster's request.
GOOD: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "container insights": (
        {"container_insights": ContainerInsights(workspace=WORKSPACE)},
        {
            "addonProfiles": {
                "omsagent": {
                    "enabled": True,
                    "config": {"logAnalyticsWorkspaceResourceID": WORKSPACE, "useAADAuth": "true"},
                }
            }
        },
    ),
    "container insights off": (
        {"container_insights": ContainerInsights(enabled=False)},
        {"addonProfiles": {"omsagent": {"enabled": False}}},
    ),
    "prometheus": (
        {"prometheus": Prometheus()},
        {"azureMonitorProfile": {"metrics": {"enabled": True}}},
    ),
    "prometheus with labels": (
        {
            "prometheus": Prometheus(
                labels={"pods": ("team", "app"), "nodes": ("*",)}, annotations={"pods": ("a/b",)}
            )
        },
        {
            "azureMonitorProfile": {
                "metrics": {
                    "enabled": True,
                    "kubeStateMetrics": {
                        "metricLabelsAllowlist": "nodes=[*],pods=[team,app]",
                        "metricAnnotationsAllowList": "pods=[a/b]",
                    },
                }
            }
        },
    ),
    "prometheus off": (
        {"prometheus": Prometheus(enabled=False)},
        {"azureMonitorProfile": {"metrics": {"enabled": False}}},
    ),
    "defender": (
        {"defender": Defender(workspace=WORKSPACE)},
        {
            "securityProfile": {
                "workloadIdentity": {"enabled": True},
                "defender": {
                    "logAnalyticsWorkspaceResourceId": WORKSPACE,
                    "securityMonitoring": {"enabled": True},
                },
            }
        },
    ),
    "defender off": (
        {"defender": Defender(enabled=False)},
        {
            "securityProfile": {
                "workloadIdentity": {"enabled": True},
                "defender": {"securityMonitoring": {"enabled": False}},
            }
        },
    ),
    "key vault": (
        {"key_vault_secrets": KeyVaultSecrets(rotation_seconds=300)},
        {
            "addonProfiles": {
                "azureKeyvaultSecretsProvider": {
                    "enabled": True,
                    "config": {"enableSecretRotation": "true", "rotationPollInterval": "300s"},
                }
            }
        },
    ),
    "image cleaner": (
        {"image_cleaner": ImageCleaner(interval_hours=48)},
        {
            "securityProfile": {
                "workloadIdentity": {"enabled": True},
                "imageCleaner": {"enabled": True, "intervalHours": 48},
            }
        },
    ),
    "keda": ({"keda": True}, {"workloadAutoScalerProfile": {"keda": {"enabled": True}}}),
    "vpa": (
        {"vertical_pod_autoscaler": True, "keda": False},
        {
            "workloadAutoScalerProfile": {
                "keda": {"enabled": False},
                "verticalPodAutoscaler": {"enabled": True},
            }
        },
    ),
    "autoscaler": (
        {
            "autoscaler": Autoscaler(
                balance_similar_node_groups=True,
                expander="least-waste",
                max_graceful_termination_seconds=900,
                new_pod_scale_up_delay_seconds=15,
                scale_down_delay_after_add_minutes=20,
                scale_down_unneeded_minutes=5,
                scale_down_utilization_threshold=0.65,
                scan_interval_seconds=20,
            )
        },
        {
            "autoScalerProfile": {
                "balance-similar-node-groups": "true",
                "expander": "least-waste",
                "max-graceful-termination-sec": "900",
                "new-pod-scale-up-delay": "15s",
                "scale-down-delay-after-add": "20m",
                "scale-down-unneeded-time": "5m",
                "scale-down-utilization-threshold": "0.65",
                "scan-interval": "20s",
            }
        },
    ),
    "autoscaler as it was": ({"autoscaler": Autoscaler()}, {"autoScalerProfile": {}}),
    "web app routing": (
        {
            "web_app_routing": WebAppRouting(
                dns_zones=(ZONE, PRIVATE_ZONE), default_controller="Internal"
            )
        },
        {
            "ingressProfile": {
                "webAppRouting": {
                    "enabled": True,
                    "dnsZoneResourceIds": [ZONE, PRIVATE_ZONE],
                    "nginx": {"defaultIngressControllerType": "Internal"},
                }
            }
        },
    ),
    "web app routing off": (
        {"web_app_routing": WebAppRouting(enabled=False)},
        {"ingressProfile": {"webAppRouting": {"enabled": False}}},
    ),
    "service mesh": (
        {"service_mesh": ServiceMesh(revisions=("asm-1-29",), external_ingress=True)},
        {
            "serviceMeshProfile": {
                "mode": "Istio",
                "istio": {
                    "revisions": ["asm-1-29"],
                    "components": {
                        "ingressGateways": [
                            {"mode": "External", "enabled": True},
                            {"mode": "Internal", "enabled": False},
                        ]
                    },
                },
            }
        },
    ),
    "service mesh off": (
        {"service_mesh": ServiceMesh(enabled=False)},
        {"serviceMeshProfile": {"mode": "Disabled"}},
    ),
    "proxy": (
        {
            "http_proxy": HttpProxy(
                http="http://proxy.example:8080",
                no_proxy=(".corp.example", "10.0.0.0/8"),
                trusted_ca=CERTIFICATE,
            )
        },
        {
            "httpProxyConfig": {
                "httpProxy": "http://proxy.example:8080",
                "noProxy": [".corp.example", "10.0.0.0/8"],
                "trustedCa": CERTIFICATE,
            }
        },
    ),
    "disk encryption": ({"disk_encryption_set": KEYS}, {"diskEncryptionSetID": KEYS}),
    "vnet integration": (
        {"api_server": ApiServer(vnet_integration=True)},
        {
            "apiServerAccessProfile": {
                "enablePrivateCluster": False,
                "enableVnetIntegration": True,
                "authorizedIPRanges": [],
                "disableRunCommand": False,
            }
        },
    ),
    "vnet integration in subnets that are there": (
        {
            "api_server": ApiServer(private=True, vnet_integration=True, subnet=SERVER),
            "subnet": NODES,
            "identity": OWN,
        },
        {
            "apiServerAccessProfile": {
                "enablePrivateCluster": True,
                "enableVnetIntegration": True,
                "subnetId": SERVER,
                "disableRunCommand": False,
            }
        },
    ),
}
NEW_POOLS: dict[str, tuple[dict[str, Any], NodePool, dict[str, Any]]] = {
    "surge": (
        {},
        pool(
            upgrade=PoolUpgrade(surge="33%", drain_minutes=45, soak_minutes=5, undrainable="Cordon")
        ),
        {
            "upgradeSettings": {
                "maxSurge": "33%",
                "drainTimeoutInMinutes": 45,
                "nodeSoakDurationInMinutes": 5,
                "undrainableNodeBehavior": "Cordon",
            }
        },
    ),
    "in place": (
        {},
        pool(upgrade=PoolUpgrade(surge="0", unavailable="2")),
        {"upgradeSettings": {"maxSurge": "0", "maxUnavailable": "2"}},
    ),
    "pod subnet": (
        {
            "network": FLAT,
            "subnet": NODES,
            "system_pool": attrs.evolve(SYSTEM_POOL, pod_subnet=PODS, max_pods=110),
        },
        pool(pod_subnet=PODS, max_pods=110),
        {"podSubnetID": PODS, "vnetSubnetID": NODES, "maxPods": 110},
    ),
}


def ran(member: AksMember, before: world.Run | None = None) -> world.Run:
    return world.run(lambda: AzureMember("weu-1", AzureMemberArgs(member=member)), before)


def fits(run: world.Run) -> None:
    assert run.error is None, run.error
    requests = [
        arm.request_of(resource) for resource in run.resources.values() if arm.has_schema(resource)
    ]
    assert {request.type: errors for request in requests if (errors := request.errors())} == {}


@pytest.mark.parametrize("name", GOOD)
def test_a_feature_becomes_its_part_of_the_request(name: str) -> None:
    fields, expected = GOOD[name]
    run = ran(aks(**fields))
    fits(run)
    sent = arm.request_of(run.named("weu-1-cluster")).body["properties"]
    assert {key: sent[key] for key in expected} == expected


@pytest.mark.parametrize("name", NEW_POOLS)
def test_a_pool_is_upgraded_and_addressed_as_declared(name: str) -> None:
    fields, declared, expected = NEW_POOLS[name]
    run = ran(aks(pools=(declared,), **fields))
    fits(run)
    inputs = run.named("weu-1-apps").inputs
    assert {key: inputs[key] for key in expected} == expected


def test_the_first_system_pool_is_no_exception() -> None:
    run = ran(aks(system_pool=attrs.evolve(SYSTEM_POOL, upgrade=PoolUpgrade(surge="1"))))
    fits(run)
    assert run.named("weu-1-cluster").inputs["agentPoolProfiles"][0]["upgradeSettings"] == {
        "maxSurge": "1"
    }


def test_a_typo_in_any_field_of_a_feature_is_found() -> None:
    everything = aks(
        **{
            key: value
            for name, (fields, _) in GOOD.items()
            if "off" not in name
            for key, value in fields.items()
        }
    )
    request = arm.request_of(ran(everything).named("weu-1-cluster"))
    assert not request.errors()
    for path in arm.fields_of(request.body):
        if {"tags", "nodeLabels", "addonProfiles", "userAssignedIdentities"} & set(path[:-1]):
            continue  # maps with keys of the user's own, and add-ons, which have no schema
        broken = copy.deepcopy(dict(request.body))
        parent: Any = broken
        for step in path[:-1]:
            parent = parent[step]
        parent[f"{path[-1]}x"] = parent.pop(path[-1])
        assert arm.Request(request.schema, request.type, broken).errors(), path


def test_what_is_not_declared_is_not_sent() -> None:
    """So that what a policy of the subscription has switched on stays on."""
    assert feature_request(aks()) == {}
    inputs = ran(aks()).named("weu-1-cluster").inputs
    assert inputs["securityProfile"] == {"workloadIdentity": {"enabled": True}}
    assert "enableVnetIntegration" not in inputs["apiServerAccessProfile"]
    assert "upgradeSettings" not in inputs["agentPoolProfiles"][0]


SETTINGS = {field.name: field for field in attrs.fields(Autoscaler)}
ANY = {
    "bool": st.booleans(),
    "int": st.integers(1, 100),
    "float": st.floats(0, 1),
    "str": st.sampled_from(["least-waste", "most-pods", "priority", "random"]),
}


def values_of(name: str) -> st.SearchStrategy[Any]:
    return ANY[str(SETTINGS[name].type).partition(" ")[0]]


@settings(max_examples=10)
@given(st.fixed_dictionaries({}, optional={name: values_of(name) for name in SETTINGS}))
def test_every_setting_of_the_autoscaler_has_its_place(given_settings: dict[str, Any]) -> None:
    """None is lost, none is made up, and Azure's types hold."""
    wanted = Autoscaler(**given_settings)
    assert not list(wanted.problems(()))
    run = ran(aks(autoscaler=wanted))
    fits(run)
    profile = arm.request_of(run.named("weu-1-cluster")).body["properties"]["autoScalerProfile"]
    assert len(profile) == len(given_settings)
    for value in given_settings.values():
        text = str(value).lower() if isinstance(value, bool) else str(value)
        assert [
            sent
            for sent in profile.values()
            if sent == value or str(sent).rstrip("ms") == text.rstrip("ms")
        ]


def broken(**fields: Any) -> list[str]:
    return [str(problem) for problem in aks(**fields).problems(built_in_sizes())]


@pytest.mark.parametrize(
    ("fields", "path"),
    [
        ({"container_insights": ContainerInsights()}, "containerInsights.workspace"),
        (
            {"container_insights": ContainerInsights(workspace="logs")},
            "containerInsights.workspace",
        ),
        ({"defender": Defender()}, "defender.workspace"),
        ({"defender": Defender(workspace=KEYS)}, "defender.workspace"),
        ({"prometheus": Prometheus(labels={"Pod": ("a",)})}, "prometheus.labels.Pod"),
        ({"prometheus": Prometheus(labels={"pods": ()})}, "prometheus.labels.pods"),
        (
            {"prometheus": Prometheus(annotations={"pods": ("a b",)})},
            "prometheus.annotations.pods[0]",
        ),
        (
            {"key_vault_secrets": KeyVaultSecrets(rotation_seconds=0)},
            "keyVaultSecrets.rotationSeconds",
        ),
        ({"image_cleaner": ImageCleaner(interval_hours=12)}, "imageCleaner.intervalHours"),
        ({"autoscaler": Autoscaler(expander="price")}, "autoscaler.expander"),
        (
            {"autoscaler": Autoscaler(max_total_unready_percentage=101)},
            "autoscaler.maxTotalUnreadyPercentage",
        ),
        ({"autoscaler": Autoscaler(scan_interval_seconds=0)}, "autoscaler.scanIntervalSeconds"),
        (
            {"autoscaler": Autoscaler(scale_down_utilization_threshold=1.5)},
            "autoscaler.scaleDownUtilizationThreshold",
        ),
        ({"web_app_routing": WebAppRouting(dns_zones=(WORKSPACE,))}, "webAppRouting.dnsZones[0]"),
        ({"web_app_routing": WebAppRouting(dns_zones=(ZONE,) * 6)}, "webAppRouting.dnsZones"),
        (
            {"web_app_routing": WebAppRouting(default_controller="external")},
            "webAppRouting.defaultController",
        ),
        ({"service_mesh": ServiceMesh(revisions=("1.29",))}, "serviceMesh.revisions[0]"),
        (
            {"service_mesh": ServiceMesh(revisions=("asm-1-29", "asm-1-29"))},
            "serviceMesh.revisions",
        ),
        (
            {"service_mesh": ServiceMesh(revisions=("asm-1-28", "asm-1-29", "asm-1-30"))},
            "serviceMesh.revisions",
        ),
        (
            {"service_mesh": ServiceMesh(enabled=False, internal_ingress=True)},
            "serviceMesh.enabled",
        ),
        ({"http_proxy": HttpProxy()}, "httpProxy.http"),
        ({"http_proxy": HttpProxy(http="proxy.example:8080")}, "httpProxy.http"),
        ({"http_proxy": HttpProxy(https="https://me:secret@proxy.example")}, "httpProxy.https"),
        ({"http_proxy": HttpProxy(http="http://proxy.example:port")}, "httpProxy.http"),
        (
            {"http_proxy": HttpProxy(http="http://p", no_proxy=("*.corp.example",))},
            "httpProxy.noProxy[0]",
        ),
        (
            {"http_proxy": HttpProxy(http="http://p", trusted_ca="-----BEGIN CERTIFICATE-----")},
            "httpProxy.trustedCa",
        ),
        ({"disk_encryption_set": NODES}, "diskEncryptionSet"),
        (
            {"api_server": ApiServer(subnet=SERVER), "subnet": NODES, "identity": OWN},
            "apiServer.subnet",
        ),
        ({"api_server": ApiServer(vnet_integration=True), "subnet": NODES}, "apiServer.subnet"),
        (
            {"api_server": ApiServer(vnet_integration=True, subnet=SERVER), "identity": OWN},
            "apiServer.subnet",
        ),
        (
            {"api_server": ApiServer(vnet_integration=True, subnet=SERVER), "subnet": NODES},
            "identity",
        ),
        (
            {
                "api_server": ApiServer(vnet_integration=True, subnet=ZONE),
                "subnet": NODES,
                "identity": OWN,
            },
            "apiServer.subnet",
        ),
        ({"pools": (pool(upgrade=PoolUpgrade(surge="a third")),)}, "pools[0].upgrade.surge"),
        ({"pools": (pool(upgrade=PoolUpgrade(surge="101%")),)}, "pools[0].upgrade.surge"),
        ({"pools": (pool(upgrade=PoolUpgrade(surge="0")),)}, "pools[0].upgrade.surge"),
        ({"pools": (pool(upgrade=PoolUpgrade(drain_minutes=1)),)}, "pools[0].upgrade.drainMinutes"),
        ({"pools": (pool(upgrade=PoolUpgrade(soak_minutes=31)),)}, "pools[0].upgrade.soakMinutes"),
        (
            {"pools": (pool(upgrade=PoolUpgrade(undrainable="Wait")),)},
            "pools[0].upgrade.undrainable",
        ),
        (
            {"system_pool": attrs.evolve(SYSTEM_POOL, upgrade=PoolUpgrade(unavailable="1"))},
            "systemPool.upgrade.unavailable",
        ),
        (
            {"network": FLAT, "subnet": NODES, "pools": (pool(pod_subnet=PODS, max_pods=50),)},
            "systemPool.podSubnet",
        ),
        (
            {
                "subnet": NODES,
                "system_pool": attrs.evolve(SYSTEM_POOL, pod_subnet=PODS, max_pods=50),
            },
            "systemPool.podSubnet",
        ),
        (
            {
                "network": FLAT,
                "system_pool": attrs.evolve(SYSTEM_POOL, pod_subnet=PODS, max_pods=50),
            },
            "systemPool.podSubnet",
        ),
        (
            {
                "network": FLAT,
                "subnet": NODES,
                "system_pool": attrs.evolve(SYSTEM_POOL, pod_subnet=PODS),
            },
            "systemPool.maxPods",
        ),
        (
            {
                "network": FLAT,
                "subnet": NODES,
                "system_pool": attrs.evolve(SYSTEM_POOL, pod_subnet="p", max_pods=50),
            },
            "systemPool.podSubnet",
        ),
    ],
)
def test_what_azure_would_refuse_is_refused_by_its_field(fields: dict[str, Any], path: str) -> None:
    (problem,) = broken(**fields)
    assert problem.startswith(f"{path}: ")
    assert problem.endswith(")")


ON_AND_OFF = [
    (
        "container_insights",
        ContainerInsights(workspace=WORKSPACE),
        ContainerInsights(enabled=False),
    ),
    ("prometheus", Prometheus(), Prometheus(enabled=False)),
    ("defender", Defender(workspace=WORKSPACE), Defender(enabled=False)),
    ("key_vault_secrets", KeyVaultSecrets(), KeyVaultSecrets(enabled=False)),
    ("image_cleaner", ImageCleaner(), ImageCleaner(enabled=False)),
    ("autoscaler", Autoscaler(expander="random"), Autoscaler()),
    ("keda", True, False),
    ("vertical_pod_autoscaler", True, False),
    ("web_app_routing", WebAppRouting(), WebAppRouting(enabled=False)),
    ("service_mesh", ServiceMesh(), ServiceMesh(enabled=False)),
]


@pytest.mark.parametrize(("field", "on", "off"), ON_AND_OFF)
def test_a_feature_is_switched_off_by_name_and_never_by_leaving_it_out(
    field: str, on: Any, off: Any
) -> None:
    plain, started, stopped = ran(aks()), ran(aks(**{field: on})), ran(aks(**{field: off}))
    assert ran(aks(**{field: on}), plain).error is None
    assert ran(aks(**{field: off}), started).error is None
    assert ran(aks(**{field: on}), stopped).error is None
    assert ran(aks(), stopped).error is None
    refused = str(ran(aks(), started).error)
    assert "Azure may keep what a request does not name" in refused
    assert 'from "on" to nothing' in refused


def test_no_feature_escapes_that_rule() -> None:
    assert set(aks().switched) == set(
        ran(aks()).named("weu-1-create-only").inputs["fields"]["features"]
    )
    assert len(ON_AND_OFF) == len(aks().switched)


PROXY = HttpProxy(http="http://proxy.example:8080")
INTEGRATED = {
    "api_server": ApiServer(vnet_integration=True, subnet=SERVER),
    "subnet": NODES,
    "identity": OWN,
}


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        ({"http_proxy": PROXY}, {}, "a request cannot take a proxy away"),
        ({"disk_encryption_set": KEYS}, {}, "fixed at creation"),
        ({}, {"disk_encryption_set": KEYS}, "fixed at creation"),
        ({"api_server": ApiServer(vnet_integration=True)}, {}, "cannot be switched off"),
        (
            INTEGRATED,
            {**INTEGRATED, "api_server": ApiServer(vnet_integration=True, subnet=NODES)},
            "nor its subnet be changed",
        ),
    ],
)
def test_what_only_a_creation_can_set_stays(
    before: dict[str, Any], after: dict[str, Any], words: str
) -> None:
    assert words in str(ran(aks(**after), ran(aks(**before))).error)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ({}, {"http_proxy": PROXY}),
        ({"http_proxy": PROXY}, {"http_proxy": attrs.evolve(PROXY, no_proxy=("a",))}),
        ({}, {"api_server": ApiServer(vnet_integration=True)}),
        ({"pools": (pool(),)}, {"pools": (pool(upgrade=PoolUpgrade(surge="50%")),)}),
        ({"service_mesh": ServiceMesh()}, {"service_mesh": ServiceMesh(internal_ingress=True)}),
    ],
)
def test_all_else_is_an_update_in_place(before: dict[str, Any], after: dict[str, Any]) -> None:
    first = ran(aks(**before))
    second = ran(aks(**after), first)
    assert second.error is None
    assert set(world.changes(first, second).values()) <= {"update"}
    assert world.changes(first, second)


def test_a_pool_keeps_the_subnet_of_its_pods() -> None:
    fields, declared, _ = NEW_POOLS["pod subnet"]
    elsewhere = attrs.evolve(declared, pod_subnet=SERVER)
    refused = ran(aks(pools=(elsewhere,), **fields), ran(aks(pools=(declared,), **fields))).error
    assert "pools.apps.podSubnet cannot change" in str(refused)
