"""The provider replaces for its fields and for no others, and what an API server refuses to change is told."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import permutations, product
from typing import Any

import pytest
from hypothesis import given, settings

from fleet_components.content.replacement import HOLDS_DATA, immutable, refused, replacement
from fleet_components.model.kinds import BUILT_IN
from tests.content.build import objects

RBAC = "rbac.authorization.k8s.io"
VOLUMES = (
    "awsElasticBlockStore azureDisk azureFile cephfs cinder csi fc flexVolume flocker gcePersistentDisk glusterfs"
    " hostPath iscsi local nfs photonPersistentDisk portworxVolume quobyte rbd scaleIO storageos vsphereVolume"
)
POD = (
    "affinity automountServiceAccountToken dnsConfig dnsPolicy enableServiceLinks hostAliases hostIPC hostNetwork"
    " hostPID hostname imagePullSecrets nodeName nodeSelector overhead preemptionPolicy priority priorityClassName"
    " readinessGates restartPolicy runtimeClassName schedulerName securityContext serviceAccount serviceAccountName"
    " shareProcessNamespace subdomain terminationGracePeriodSeconds volumes"
)
CONTAINER = (
    "args command env image imagePullPolicy lifecycle livenessProbe ports readinessProbe resources securityContext"
    " stdin stdinOnce terminationMessagePath terminationMessagePolicy tty volumeDevices volumeMounts workingDir"
)
STATEFUL_SET = "podManagementPolicy revisionHistoryLimit selector serviceName volumeClaimTemplates"
JOB = "completions parallelism selector template"

# API versions, kind, where the fields stand, those that replace, and those beside them that do not.
FORCING = [
    (
        "v1",
        "PersistentVolume",
        "spec",
        VOLUMES,
        "capacity nodeAffinity storageClassName volumeMode",
    ),
    (
        "v1",
        "PersistentVolumeClaim",
        "spec",
        "accessModes selector storageClassName volumeName",
        "resources volumeMode",
    ),
    ("v1", "Pod", "spec", POD, "activeDeadlineSeconds tolerations topologySpreadConstraints"),
    ("v1", "Pod", "spec.containers[0]", CONTAINER, "envFrom name resizePolicy startupProbe"),
    ("v1", "Pod", "spec.initContainers[0]", CONTAINER, "envFrom name restartPolicy startupProbe"),
    ("v1", "ResourceQuota", "spec", "scopes", "hard scopeSelector"),
    ("v1", "Secret", "", "type", "data immutable stringData"),
    ("v1", "Service", "spec", "clusterIP", "clusterIPs ports selector type"),
    ("apps/v1 apps/v1beta2", "DaemonSet", "spec", "selector", "template updateStrategy"),
    ("apps/v1 apps/v1beta2", "Deployment", "spec", "selector", "replicas strategy template"),
    (
        "apps/v1 apps/v1beta2 apps/v1beta1",
        "StatefulSet",
        "spec",
        STATEFUL_SET,
        "replicas template updateStrategy",
    ),
    (
        "batch/v1 batch/v1beta1 batch/v2alpha1",
        "Job",
        "spec",
        JOB,
        "backoffLimit completionMode suspend",
    ),
    ("policy/v1beta1", "PodDisruptionBudget", "", "spec", "status"),
    (f"{RBAC}/v1 {RBAC}/v1beta1 {RBAC}/v1alpha1", "ClusterRoleBinding", "", "roleRef", "subjects"),
    (f"{RBAC}/v1 {RBAC}/v1beta1 {RBAC}/v1alpha1", "RoleBinding", "", "roleRef", "subjects"),
    (
        "storage.k8s.io/v1",
        "StorageClass",
        "",
        "parameters provisioner",
        "allowVolumeExpansion reclaimPolicy",
    ),
    # Not at all.
    ("v1", "ConfigMap", "", "", "binaryData data immutable"),
    ("v1", "Namespace", "spec", "", "finalizers"),
    (
        "apiextensions.k8s.io/v1",
        "CustomResourceDefinition",
        "spec",
        "",
        "group names scope versions",
    ),
    ("apps/v1", "ReplicaSet", "spec", "", "selector"),
    ("apps/v1beta1", "DaemonSet", "spec", "", "selector"),
    ("apps/v1beta1", "Deployment", "spec", "", "selector"),
    ("batch/v1", "CronJob", "spec", "", "jobTemplate schedule"),
    ("policy/v1", "PodDisruptionBudget", "", "", "spec"),
    ("storage.k8s.io/v1beta1", "StorageClass", "", "", "parameters provisioner"),
    ("example.test/v1", "Deployment", "spec", "", "selector"),
    ("serving.knative.dev/v1", "Service", "spec", "", "clusterIP"),
]
IMMUTABLE = [
    ("v1", "PersistentVolume", "spec", "volumeMode", "capacity claimRef mountOptions"),
    ("v1", "PersistentVolumeClaim", "spec", "resources.limits volumeMode", "finalizers"),
    (
        "v1",
        "Pod",
        "spec",
        "ephemeralContainers hostUsers hostnameOverride os resourceClaims",
        "other",
    ),
    (
        "v1",
        "Pod",
        "spec",
        "resources schedulingGroup setHostnameAsFQDN topologySpreadConstraints",
        "other",
    ),
    (
        "v1",
        "Pod",
        "spec.containers[0]",
        "envFrom name resizePolicy restartPolicy restartPolicyRules startupProbe",
        "image",
    ),
    (
        "v1",
        "Pod",
        "spec.initContainers[0]",
        "envFrom name resizePolicy restartPolicy restartPolicyRules startupProbe",
        "image",
    ),
    (
        "apiextensions.k8s.io/v1",
        "CustomResourceDefinition",
        "spec",
        "group names.kind names.plural scope",
        "versions",
    ),
    ("apps/v1", "ControllerRevision", "", "data", "revision"),
    ("apps/v1", "ReplicaSet", "spec", "selector", "replicas template"),
    (
        "batch/v1",
        "Job",
        "spec",
        "backoffLimitPerIndex completionMode managedBy podFailurePolicy",
        "suspend template",
    ),
    ("batch/v1", "Job", "spec", "successPolicy", "backoffLimit parallelism"),
    ("certificates.k8s.io/v1beta1", "ClusterTrustBundle", "spec", "signerName", "trustBundle"),
    ("certificates.k8s.io/v1beta1", "PodCertificateRequest", "", "spec", "status"),
    ("coordination.k8s.io/v1beta1", "LeaseCandidate", "spec", "leaseName", "strategy"),
    ("discovery.k8s.io/v1", "EndpointSlice", "", "addressType", "endpoints ports"),
    ("networking.k8s.io/v1", "IPAddress", "spec", "parentRef", "other"),
    ("networking.k8s.io/v1", "IngressClass", "spec", "controller", "parameters"),
    ("node.k8s.io/v1", "RuntimeClass", "", "handler", "overhead"),
    ("resource.k8s.io/v1", "ResourceClaim", "", "spec", "status"),
    ("resource.k8s.io/v1", "ResourceClaimTemplate", "", "spec", "status"),
    (
        "resource.k8s.io/v1",
        "ResourceSlice",
        "spec",
        "driver nodeName pool.name",
        "devices pool.generation",
    ),
    (
        "scheduling.k8s.io/v1",
        "PriorityClass",
        "",
        "preemptionPolicy value",
        "description globalDefault",
    ),
    (
        "storage.k8s.io/v1",
        "CSIDriver",
        "spec",
        "attachRequired volumeLifecycleModes",
        "podInfoOnMount",
    ),
    ("storage.k8s.io/v1", "CSIStorageCapacity", "", "nodeTopology storageClassName", "capacity"),
    (
        "storage.k8s.io/v1",
        "StorageClass",
        "",
        "reclaimPolicy volumeBindingMode",
        "mountOptions parameters",
    ),
    ("storage.k8s.io/v1", "VolumeAttachment", "", "spec", "status"),
    ("storage.k8s.io/v1", "VolumeAttributesClass", "", "driverName parameters", "other"),
    ("storagemigration.k8s.io/v1beta1", "StorageVersionMigration", "", "spec", "status"),
    ("v1", "Service", "spec", "", "clusterIP clusterIPs externalIPs ipFamilies loadBalancerClass"),
    ("v1", "ConfigMap", "", "", "binaryData data immutable"),
    ("v1", "Secret", "", "", "data immutable stringData type"),
    ("apps/v1", "Deployment", "spec", "", "replicas selector template"),
    ("apps/v1", "StatefulSet", "spec", "", "selector template volumeClaimTemplates"),
    ("example.test/v1", "ReplicaSet", "spec", "", "selector"),
]
A, B = {"text": "a"}, {"text": "b"}


def of(api: str, kind: str, **data: Any) -> dict[str, Any]:
    return {"apiVersion": api, "kind": kind, "metadata": {"name": "it"}, **data}


def put(data: Mapping[str, Any], path: str, value: Any) -> dict[str, Any]:
    """The data with a value there; ``[0]`` makes a list with one item."""
    step, _, rest = path.partition(".")
    name = step.removesuffix("[0]")
    inner = data.get(name) or {}
    if name != step:
        return {**data, name: [put(inner[0] if inner else {}, rest, value)]}
    return {**data, name: put(inner, rest, value) if rest else value}


def rows(
    table: list[tuple[str, str, str, str, str]], *, changed: bool
) -> list[tuple[dict[str, Any], str]]:
    """An object and a field, for each version and each field that counts, or each that does not."""
    found = []
    for versions, kind, where, counts, others in table:
        prefix = f"{where}." if where else ""
        for api, field in product(versions.split(), (counts if changed else others).split()):
            found.append((put(of(api, kind), f"{prefix}present", "x"), prefix + field))
    return found


def name(value: Any) -> str:
    return value if isinstance(value, str) else f"{value['apiVersion']} {value['kind']}"


@pytest.mark.parametrize(("base", "field"), rows(FORCING, changed=True), ids=name)
def test_the_provider_replaces(base: dict[str, Any], field: str) -> None:
    before, after = put(base, field, A), put(base, field, B)
    for old, new in ((before, after), (base, after), (before, base)):
        assert replacement(old, new) == (field,)
        assert immutable(old, new) == ()
    for same in (put(base, field, None), put(base, field, [])):
        assert replacement(base, same) == replacement(same, base) == ()
        assert replacement(same, after) == (field,)


@pytest.mark.parametrize(("base", "field"), rows(FORCING, changed=False), ids=name)
def test_the_provider_updates(base: dict[str, Any], field: str) -> None:
    before, after = put(base, field, A), put(base, field, B)
    for old, new in ((before, after), (base, after), (before, base)):
        assert replacement(old, new) == ()


@pytest.mark.parametrize(("base", "field"), rows(IMMUTABLE, changed=True), ids=name)
def test_an_api_server_refuses(base: dict[str, Any], field: str) -> None:
    before, after = put(base, field, A), put(base, field, B)
    for old, new in ((before, after), (base, after), (before, base)):
        assert immutable(old, new) == (field,)
        assert replacement(old, new) == ()
    same = put(base, field, None)
    assert immutable(base, same) == immutable(same, base) == ()


@pytest.mark.parametrize(("base", "field"), rows(IMMUTABLE, changed=False), ids=name)
def test_an_api_server_takes(base: dict[str, Any], field: str) -> None:
    before, after = put(base, field, A), put(base, field, B)
    for old, new in ((before, after), (base, after), (before, base)):
        assert immutable(old, new) == ()


def test_a_replaced_object_changes_nothing_that_is_immutable() -> None:
    old = of("batch/v1", "Job", spec={"completionMode": "Indexed", "template": A})
    mode = of("batch/v1", "Job", spec={"completionMode": "NonIndexed", "template": A})
    both = of("batch/v1", "Job", spec={"completionMode": "NonIndexed", "template": B})
    assert immutable(old, mode) == ("spec.completionMode",)
    assert (replacement(old, both), immutable(old, both)) == (("spec.template",), ())


@pytest.mark.parametrize(
    ("old", "new", "replaces"),
    [
        ({"completions": 1}, {"completions": 1.0}, ()),
        ({"completions": 1}, {"completions": True}, ("spec.completions",)),
        ({"template": {"a": [1, {"b": None}]}}, {"template": {"a": [1.0, {}]}}, ()),
        ({"template": {"a": [1]}}, {"template": {"a": [1, 2]}}, ("spec.template",)),
        (
            {"template": A, "parallelism": 1},
            {"template": B, "parallelism": 2},
            ("spec.parallelism", "spec.template"),
        ),
        ({"template": {"a": 1, "b": 1}}, {"template": {"a": 2, "b": 2}}, ("spec.template",)),
        ({"selector": {}}, {}, ("spec.selector",)),
    ],
)
def test_values(old: dict[str, Any], new: dict[str, Any], replaces: tuple[str, ...]) -> None:
    assert replacement(of("batch/v1", "Job", spec=old), of("batch/v1", "Job", spec=new)) == replaces


def test_what_goes_with_its_parent_forces_nothing() -> None:
    with_spec, without = (
        of("apps/v1", "Deployment", spec={"selector": A}),
        of("apps/v1", "Deployment"),
    )
    assert replacement(with_spec, without) == ()
    assert replacement(without, with_spec) == ("spec.selector",)
    assert replacement(without, of("apps/v1", "Deployment", spec={"replicas": 2})) == ()


@pytest.mark.parametrize(
    ("old", "new", "replaces", "refused"),
    [
        ([{"image": "a"}], [{"image": "b"}], "spec.containers[0].image", ""),
        ([{"image": "a"}], [{"image": "a"}, {"image": "b"}], "spec.containers[1]", ""),
        ([{"image": "a"}], [{"image": "a"}, {"name": "b"}], "", "spec.containers[1]"),
        ([{"image": "a", "name": "a"}, {"image": "b", "name": "b"}], [{"image": "a", "name": "a"}], "", "spec.containers[1]"),
        ([{"env": [{"name": "A", "value": "1"}]}], [{"env": [{"name": "A"}]}], "spec.containers[0].env", ""),
        ([{"image": "a", "name": "a"}], [{"image": "a", "name": "b"}], "", "spec.containers[0].name"),
    ],
)  # fmt: skip
def test_containers(old: list[Any], new: list[Any], replaces: str, refused: str) -> None:
    before, after = (
        of("v1", "Pod", spec={"containers": old}),
        of("v1", "Pod", spec={"containers": new}),
    )
    assert " ".join(replacement(before, after)) == replaces
    assert " ".join(immutable(before, after)) == refused


def test_all_init_containers() -> None:
    some, none = [
        of("v1", "Pod", spec={"x": 1, "initContainers": items}) for items in ([{"name": "a"}], [])
    ]
    assert replacement(some, none) == ("spec.initContainers",)
    assert replacement(none, some) == ()


def test_the_new_version_counts_and_a_new_version_alone_is_no_change() -> None:
    old, same = (
        of("apps/v1beta1", "Deployment", spec={"selector": A}),
        of("apps/v1", "Deployment", spec={"selector": A}),
    )
    other = of("apps/v1", "Deployment", spec={"selector": B})
    assert replacement(old, same) == immutable(old, same) == ()
    assert replacement(old, other) == ("spec.selector",)
    assert replacement(other, old) == ()


@pytest.mark.parametrize(
    ("kind", "old", "new", "replaces", "refused"),
    [
        ("ConfigMap", {"data": A}, {"data": B}, "", ""),
        ("ConfigMap", {"data": A, "immutable": True}, {"data": B, "immutable": True}, "data", ""),
        ("ConfigMap", {"binaryData": A, "immutable": True}, {"immutable": True}, "binaryData", ""),
        ("ConfigMap", {"data": A}, {"data": B, "immutable": True}, "data", ""),
        ("ConfigMap", {"data": A}, {"data": A, "immutable": True}, "", ""),
        ("ConfigMap", {"data": A, "immutable": True}, {"data": B}, "", "data immutable"),
        (
            "ConfigMap",
            {"data": A, "immutable": True},
            {"data": A, "immutable": False},
            "",
            "immutable",
        ),
        ("ConfigMap", {"data": A, "immutable": False}, {"data": B}, "", ""),
        ("Secret", {"data": A}, {"data": B}, "", ""),
        ("Secret", {"data": A, "immutable": True}, {"data": B, "immutable": True}, "data", ""),
        ("Secret", {"data": A, "immutable": True}, {"data": B}, "", "data immutable"),
        ("Secret", {"immutable": True, "type": "a"}, {"type": "b"}, "type", ""),
        (
            "Secret",
            {"stringData": A, "immutable": True},
            {"stringData": B, "immutable": True},
            "data",
            "",
        ),
        (
            "Secret",
            {"stringData": A, "immutable": True},
            {"data": {"text": "YQ=="}, "immutable": True},
            "",
            "",
        ),
        ("Secret", {}, {"type": "Opaque"}, "type", ""),
    ],
)
def test_immutable_contents(
    kind: str, old: dict[str, Any], new: dict[str, Any], replaces: str, refused: str
) -> None:
    before, after = of("v1", kind, **old), of("v1", kind, **new)
    assert " ".join(replacement(before, after)) == replaces
    assert " ".join(immutable(before, after)) == refused
    custom = of("example.test/v1", kind, **old), of("example.test/v1", kind, **new)
    assert replacement(*custom) == immutable(*custom) == ()


@pytest.mark.parametrize(
    ("api", "kind", "default"),
    [
        ("v1", "PersistentVolume", {"spec": {"volumeMode": "Filesystem"}}),
        ("v1", "PersistentVolumeClaim", {"spec": {"volumeMode": "Filesystem"}}),
        ("batch/v1", "Job", {"spec": {"completionMode": "NonIndexed"}}),
        (
            "scheduling.k8s.io/v1",
            "PriorityClass",
            {"preemptionPolicy": "PreemptLowerPriority", "value": 0},
        ),
        (
            "storage.k8s.io/v1",
            "CSIDriver",
            {"spec": {"attachRequired": True, "volumeLifecycleModes": ["Persistent"]}},
        ),
        (
            "storage.k8s.io/v1",
            "StorageClass",
            {"reclaimPolicy": "Delete", "volumeBindingMode": "Immediate"},
        ),
    ],
)
def test_an_api_server_takes_its_own_default(api: str, kind: str, default: dict[str, Any]) -> None:
    assert immutable(of(api, kind), of(api, kind, **default)) == ()
    assert immutable(of(api, kind, **default), of(api, kind)) == ()


def test_the_sources_of_a_claim_are_filled_in_from_each_other() -> None:
    item, other = {"kind": "Snapshot", "name": "a"}, {"kind": "Snapshot", "name": "b"}
    none, some, wide, both, changed = (
        of("v1", "PersistentVolumeClaim", spec={"x": 1, **spec})
        for spec in (
            {},
            {"dataSource": item},
            {"dataSourceRef": item},
            {"dataSource": item, "dataSourceRef": item},
            {"dataSource": other},
        )
    )
    for old, new in permutations((some, wide, both, none), 2):
        assert bool(immutable(old, new)) is (old is none or (old is both and new is none))
    assert "spec.dataSource" in immutable(some, changed)


DEFAULTS = [
    ("apps/v1", "StatefulSet", {"podManagementPolicy": "OrderedReady"}),
    ("apps/v1", "StatefulSet", {"revisionHistoryLimit": 10}),
    ("batch/v1", "Job", {"completions": 1, "parallelism": 1}),
    ("batch/v1", "Job", {"template": {"spec": {"containers": [], "restartPolicy": "Always"}}}),
    ("v1", "Pod", {"dnsPolicy": "ClusterFirst"}),
    ("v1", "Pod", {"enableServiceLinks": True}),
]
"""Defaults of fields whose change makes the provider replace."""


@pytest.mark.parametrize(("api", "kind", "default"), DEFAULTS)
def test_the_provider_replaces_for_a_default_which_an_api_server_takes(
    api: str, kind: str, default: dict[str, Any]
) -> None:
    """The provider compares what is sent, an API server what is stored."""
    base: dict[str, Any] = {"template": {"spec": {"containers": []}}} if kind == "Job" else {"x": 1}
    old, new = of(api, kind, spec=base), of(api, kind, spec={**base, **default})
    for before, after in ((old, new), (new, old)):
        assert replacement(before, after)
        assert refused(before, after) == ()


@pytest.mark.parametrize(
    ("kind", "default"),
    [
        ("Deployment", {"strategy": {"type": "RollingUpdate"}, "replicas": 1}),
        ("DaemonSet", {"updateStrategy": {"type": "RollingUpdate"}}),
        ("Service", {"type": "ClusterIP", "clusterIP": ""}),
        ("CronJob", {"suspend": False}),
        ("Job", {"suspend": False, "backoffLimit": 6, "completionMode": "NonIndexed"}),
        ("PersistentVolumeClaim", {"volumeMode": "Filesystem"}),
    ],
)
def test_another_default_that_is_written_out_is_an_update(
    kind: str, default: dict[str, Any]
) -> None:
    api = {"Service": "v1", "PersistentVolumeClaim": "v1"}.get(
        kind, "batch/v1" if "Job" in kind else "apps/v1"
    )
    old, new = of(api, kind, spec={"x": 1}), of(api, kind, spec={"x": 1, **default})
    for before, after in ((old, new), (new, old)):
        assert (
            replacement(before, after) == immutable(before, after) == refused(before, after) == ()
        )


@pytest.mark.parametrize(
    "same",
    [
        {"hostNetwork": False},
        {"volumes": []},
        {"dnsPolicy": ""},
        {
            "containers": [
                {"name": "c", "resources": {"limits": {"cpu": "1000m", "memory": "1024Mi"}}}
            ]
        },
    ],
)
def test_the_provider_sends_what_the_types_of_the_api_write(same: dict[str, Any]) -> None:
    limits = {"cpu": 1, "memory": "1Gi"}
    spec = {"containers": [{"name": "c", "resources": {"limits": limits}}]}
    old, new = of("v1", "Pod", spec=spec), of("v1", "Pod", spec={**spec, **same})
    for before, after in ((old, new), (new, old)):
        assert replacement(before, after) == refused(before, after) == ()


def test_a_service_that_leaves_its_address_out_keeps_it() -> None:
    written = {"clusterIP": "10.0.0.9", "clusterIPs": ["10.0.0.9"], "ipFamilies": ["IPv4"]}
    old, new = (
        of("v1", "Service", spec={"ports": [], **written}),
        of("v1", "Service", spec={"ports": []}),
    )
    assert (replacement(old, new), refused(old, new)) == (("spec.clusterIP",), ())
    assert refused(new, old) == ("spec.clusterIPs[0]",)


def storage(amount: Any) -> dict[str, Any]:
    return {"resources": {"requests": {"storage": amount}}}


@pytest.mark.parametrize(
    ("kind", "old", "new", "refused"),
    [
        ("PersistentVolume", {"nodeAffinity": A}, {"nodeAffinity": B}, "spec.nodeAffinity"),
        ("PersistentVolume", {"nodeAffinity": A}, {}, "spec.nodeAffinity"),
        ("PersistentVolume", {}, {"nodeAffinity": B}, ""),
        ("PersistentVolumeClaim", storage("2Gi"), storage("1Gi"), "spec.resources.requests.storage"),
        ("PersistentVolumeClaim", storage("1Gi"), storage(1024), "spec.resources.requests.storage"),
        ("PersistentVolumeClaim", storage("1Gi"), storage("2Gi"), ""),
        ("PersistentVolumeClaim", storage("1Gi"), storage("1024Mi"), ""),
        ("PersistentVolumeClaim", storage("1Gi"), {}, ""),
        ("Pod", {"activeDeadlineSeconds": 5}, {"activeDeadlineSeconds": 6}, "spec.activeDeadlineSeconds"),
        ("Pod", {"activeDeadlineSeconds": 5}, {}, "spec.activeDeadlineSeconds"),
        ("Pod", {"activeDeadlineSeconds": 5}, {"activeDeadlineSeconds": 4}, ""),
        ("Pod", {}, {"activeDeadlineSeconds": 4}, ""),
        ("Pod", {"tolerations": [{"key": "a"}]}, {"tolerations": [{"key": "b"}]}, "spec.tolerations"),
        ("Pod", {"tolerations": [{"key": "a"}]}, {}, "spec.tolerations"),
        ("Pod", {"tolerations": [{"key": "a"}]}, {"tolerations": [{"key": "b"}, {"key": "a"}]}, ""),
        ("Pod", {"tolerations": [{"key": "a"}]}, {"tolerations": [{"key": "a", "tolerationSeconds": 3}]}, ""),
        ("Pod", {"schedulingGates": [A]}, {"schedulingGates": [A, B]}, "spec.schedulingGates"),
        ("Pod", {"schedulingGates": [A, B]}, {"schedulingGates": [B]}, ""),
        ("Pod", {}, {"topologySpreadConstraints": []}, ""),
        ("Pod", {"containers": [{"name": "a", "envFrom": []}]}, {"containers": [{"name": "a"}]}, ""),
        ("Service", {"type": "LoadBalancer"}, {"type": "LoadBalancer", "loadBalancerClass": "a/b"}, "spec.loadBalancerClass"),
        ("Service", {"type": "ClusterIP"}, {"type": "LoadBalancer", "loadBalancerClass": "a/b"}, ""),
        ("Service", {"ipFamilies": ["IPv4"]}, {"ipFamilies": ["IPv6"]}, "spec.ipFamilies[0]"),
        ("Service", {"ipFamilies": ["IPv4"]}, {"ipFamilies": ["IPv4", "IPv6"]}, ""),
        ("Service", {"ipFamilies": ["IPv4"], "clusterIP": "None"}, {"ipFamilies": ["IPv6"], "clusterIP": "None"}, ""),
        ("Service", {"clusterIPs": ["10.0.0.1"]}, {"clusterIPs": ["10.0.0.2"]}, "spec.clusterIPs[0]"),
        ("Service", {"clusterIPs": ["10.0.0.1"]}, {"clusterIPs": ["10.0.0.1", "fd00::1"]}, ""),
    ],
)  # fmt: skip
def test_what_is_immutable_in_some_objects_or_in_one_direction(
    kind: str, old: dict[str, Any], new: dict[str, Any], refused: str
) -> None:
    before, after = of("v1", kind, spec={"x": 1, **old}), of("v1", kind, spec={"x": 1, **new})
    assert " ".join(immutable(before, after)) == refused
    assert replacement(before, after) == ()


def test_a_second_address_range_may_come() -> None:
    item, two, other = (
        of("networking.k8s.io/v1", "ServiceCIDR", spec={"cidrs": cidrs})
        for cidrs in (["a"], ["a", "b"], ["c"])
    )
    assert immutable(item, two) == ()
    assert immutable(item, other) == ("spec.cidrs[0]",)


@settings(max_examples=40)
@given(objects(), objects())
def test_anything(old: dict[str, Any], new: dict[str, Any]) -> None:
    """Whatever a ConfigMap holds beside its data is nobody's business."""
    assert replacement(old, new) == immutable(old, new) == ()
    for kind in ("Pod", "Service", "PersistentVolumeClaim"):
        assert replacement({**old, "kind": kind}, {**old, "kind": kind}) == ()


def test_what_holds_data_is_known() -> None:
    assert HOLDS_DATA - BUILT_IN.keys() == set()
    assert ("apps", "StatefulSet") in HOLDS_DATA


JOB_OF_ONE = {"completions": 1, "parallelism": 1, "template": {"spec": {"containers": []}}}


@pytest.mark.parametrize(
    ("was", "now", "fields"),
    [
        ({}, {"parallelism": 2}, ()),
        ({}, {"completions": 2}, ("spec.completions",)),
        ({}, {"completions": 2, "parallelism": 2}, ("spec.completions",)),
        (
            {"completionMode": "Indexed"},
            {"completionMode": "Indexed", "completions": 2, "parallelism": 2},
            (),
        ),
        (
            {"completionMode": "Indexed"},
            {"completionMode": "Indexed", "completions": 2},
            ("spec.completions",),
        ),
        ({}, {"template": {"spec": {"hostNetwork": True, "containers": []}}}, ("spec.template",)),
        (
            {"suspend": True},
            {
                "suspend": True,
                "template": {"spec": {"nodeSelector": {"zone": "a"}, "containers": []}},
            },
            (),
        ),
    ],
)
def test_what_an_api_server_refuses_of_a_job(
    was: dict[str, Any], now: dict[str, Any], fields: tuple[str, ...]
) -> None:
    old, new = (
        {
            "apiVersion": "batch/v1",
            "kind": "Job",
            "metadata": {"name": "j"},
            "spec": {**JOB_OF_ONE, **item},
        }
        for item in (was, now)
    )
    assert refused(old, new) == fields
    if now.get("parallelism") == 2:
        assert replacement(old, new)  # the provider's own rule


def test_an_image_of_a_pod_changes_in_place() -> None:
    old, new = (
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": "p"},
            "spec": {"containers": [{"name": "c", "image": i}]},
        }
        for i in ("web:1", "web:2")
    )
    assert (refused(old, new), bool(replacement(old, new))) == ((), True)
