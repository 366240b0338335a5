"""Defaults of built-in kinds that depend on other fields, by type and by kind.

Source: the answers of an API server of Kubernetes 1.36 to dry runs; ``tools/defaults`` lists
these fields. A function changes a map in place, which has the defaults of ``defaults.json``
already. What is of another type than the API has is left alone, since an API server refuses it.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from fleet_components.content.secret import REDACTED

Fields = dict[str, Any]
Fill = Callable[[Fields], None]

NAME_LABEL = "kubernetes.io/metadata.name"
"""The label with the namespace's name, which the API server sets on every namespace."""
_MOST_INT32 = 2**31 - 1
_ADDRESS, _PORT, _UID = "10.0.0.0", 30000, "00000000-0000-0000-0000-000000000000"
"""Stand for what each cluster assigns: no member gets them."""
_PERCENT = {"type": "Percent", "value": 100, "periodSeconds": 15}
_PODS = {"type": "Pods", "value": 4, "periodSeconds": 15}


def _image_policy(image: str, policy: str) -> Fill:
    """Return what fills in when an image is pulled: always if its tag is ``latest``, as that of
    one without a tag.
    """

    def fill(part: Fields) -> None:
        # What is before the last slash may have a port, whose colon begins no tag.
        name, digest = str(part.get(image) or "").rpartition("/")[2], "@"
        tag = name.partition(digest)[0].partition(":")[2] or (
            "" if digest in name or not name else "latest"
        )
        part.setdefault(policy, "Always" if tag == "latest" else "IfNotPresent")

    return fill


def _rolling_update(**defaults: Any) -> Fill:
    """Return what fills in the limits of a strategy that is a rolling update."""

    def fill(strategy: Fields) -> None:
        if strategy.get("type") == "RollingUpdate" and isinstance(
            strategy.setdefault("rollingUpdate", {}), dict
        ):
            strategy["rollingUpdate"] = {**defaults, **strategy["rollingUpdate"]}

    return fill


def _volume(volume: Fields) -> None:
    # A volume without any source is an empty directory.
    if volume.keys() <= {"name"}:
        volume["emptyDir"] = {}


def _pod_spec(spec: Fields) -> None:
    # The deprecated field serviceAccount is stored with the value of the other, and the reverse.
    account = spec.get("serviceAccountName") or spec.get("serviceAccount")
    if account:
        spec["serviceAccountName"] = spec["serviceAccount"] = account


def _pod_template(template: Fields) -> None:
    template.setdefault("metadata", {})


def _service(spec: Fields) -> None:
    kind, headless = spec.get("type"), spec.get("clusterIP") == "None"
    outside = kind in ("NodePort", "LoadBalancer") or bool(spec.get("externalIPs"))
    _ports_of_service(spec, kind in ("NodePort", "LoadBalancer"))
    if spec.get("sessionAffinity") == "ClientIP":
        spec.setdefault("sessionAffinityConfig", {"clientIP": {"timeoutSeconds": 10800}})
    else:
        spec.pop("sessionAffinityConfig", None)
    if outside and kind != "ExternalName":
        spec.setdefault("externalTrafficPolicy", "Cluster")
    if kind == "LoadBalancer":
        spec.setdefault("allocateLoadBalancerNodePorts", True)
        if spec.get("externalTrafficPolicy") == "Local":
            spec.setdefault("healthCheckNodePort", _PORT)
    if kind != "ExternalName":
        spec.setdefault("internalTrafficPolicy", "Cluster")
        spec.setdefault("clusterIP", _ADDRESS)
        spec.setdefault("clusterIPs", [spec["clusterIP"]])
        # Endpoints that no selector finds may be of either family.
        both = headless and not spec.get("selector")
        spec.setdefault("ipFamilyPolicy", "RequireDualStack" if both else "SingleStack")
        spec.setdefault("ipFamilies", ["IPv4", "IPv6"] if both else ["IPv4"])


def _ports_of_service(spec: Fields, on_nodes: bool) -> None:
    ports = spec.get("ports")
    for port in ports if isinstance(ports, list) else ():
        if isinstance(port, dict):
            if not port.get("targetPort"):
                port["targetPort"] = port.get("port")
            if on_nodes and spec.get("allocateLoadBalancerNodePorts") is not False:
                port.setdefault("nodePort", _PORT)


def _limit(item: Fields) -> None:
    if item.get("type") == "Container":
        most, least = _map(item.get("max")), _map(item.get("min"))
        # Without a default the maximum is the limit, and without a default request the limit is.
        limits = {**most, **_map(item.get("default"))}
        requests = {**least, **limits, **_map(item.get("defaultRequest"))}
        found = {"default": limits, "defaultRequest": requests}
        item.update({field: amounts for field, amounts in found.items() if amounts})


def _autoscaler(spec: Fields) -> None:
    target = {"type": "Utilization", "averageUtilization": 80}
    if not spec.get("metrics"):
        spec["metrics"] = [{"type": "Resource", "resource": {"name": "cpu", "target": target}}]
    behavior = spec.get("behavior")
    if isinstance(behavior, dict):
        up = {"policies": [_PODS, _PERCENT], "selectPolicy": "Max", "stabilizationWindowSeconds": 0}
        down = {"policies": [_PERCENT], "selectPolicy": "Max"}
        for way, rules in (("scaleUp", up), ("scaleDown", down)):
            behavior[way] = {**rules, **_map(behavior.get(way))}


def _network_policy(spec: Fields) -> None:
    spec.setdefault("policyTypes", ["Ingress", *(["Egress"] if spec.get("egress") else [])])


def _subject(subject: Fields) -> None:
    if subject.get("kind") in ("User", "Group"):
        subject.setdefault("apiGroup", "rbac.authorization.k8s.io")


def _device_request(request: Fields) -> None:
    if request.get("allocationMode") == "ExactCount":
        request.setdefault("count", 1)


def _names(names: Fields) -> None:
    kind = names.get("kind")
    if isinstance(kind, str):
        names.setdefault("singular", kind.lower())
        names.setdefault("listKind", f"{kind}List")


OF_TYPES: Mapping[str, Fill] = MappingProxyType(
    {
        "apiextensions.v1.CustomResourceDefinitionNames": _names,
        "apps.v1.DaemonSetUpdateStrategy": _rolling_update(maxUnavailable=1, maxSurge=0),
        "apps.v1.DeploymentStrategy": _rolling_update(maxUnavailable="25%", maxSurge="25%"),
        "apps.v1.StatefulSetUpdateStrategy": _rolling_update(partition=0),
        "autoscaling.v2.HorizontalPodAutoscalerSpec": _autoscaler,
        "core.v1.Container": _image_policy("image", "imagePullPolicy"),
        "core.v1.ImageVolumeSource": _image_policy("reference", "pullPolicy"),
        "core.v1.LimitRangeItem": _limit,
        "core.v1.PodSpec": _pod_spec,
        "core.v1.PodTemplateSpec": _pod_template,
        "core.v1.ServiceSpec": _service,
        "core.v1.Volume": _volume,
        "networking.v1.NetworkPolicySpec": _network_policy,
        "rbac.v1.Subject": _subject,
        "resource.v1.DeviceSubRequest": _device_request,
        "resource.v1.ExactDeviceRequest": _device_request,
    }
)
"""Functions that fill in the values of a type, by its name."""


def _namespace(data: Fields) -> None:
    metadata = data.get("metadata")
    if isinstance(metadata, dict):
        metadata["labels"] = {**_map(metadata.get("labels")), NAME_LABEL: metadata.get("name")}


def _secret(data: Fields) -> None:
    texts, known = data.get("stringData"), data.get("data", {})
    # An API server stores one map of both, in which stringData wins.
    if isinstance(texts, Mapping) and isinstance(known, Mapping):
        del data["stringData"]
        data["data"] = {**known, **{key: _encoded(text) for key, text in texts.items()}}


def _encoded(text: Any) -> str:
    return REDACTED if text == REDACTED else base64.b64encode(str(text).encode()).decode()


def _claim(data: Fields) -> None:
    spec = data.get("spec")
    if isinstance(spec, dict):
        source, wider = spec.get("dataSource"), spec.get("dataSourceRef")
        if source is not None:
            spec.setdefault("dataSourceRef", source)
        # dataSource cannot name another namespace.
        elif isinstance(wider, Mapping) and not wider.get("namespace"):
            spec["dataSource"] = wider


def _pod(data: Fields) -> None:
    spec = data.get("spec")
    if not isinstance(spec, dict):
        return
    # Priority, tolerations and the like come from admission plug-ins, only for pods themselves.
    _default(spec, enableServiceLinks=True, priority=0, preemptionPolicy="PreemptLowerPriority")
    for field in ("containers", "initContainers"):
        containers = spec.get(field)
        for container in containers if isinstance(containers, list) else ():
            _container_of_pod(container, on_host=spec.get("hostNetwork") is True)
    waits = ("node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable")
    found = spec.get("tolerations") or []
    if isinstance(found, list):
        # Only where no toleration of the pod covers the taint already.
        rest = [
            _waiting(key) for key in waits if not any(_tolerates(entry, key) for entry in found)
        ]
        spec["tolerations"] = [*found, *rest]


def _waiting(key: str) -> Fields:
    return {"key": key, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300}


def _tolerates(toleration: Any, key: str) -> bool:
    found = _map(toleration)
    # Without a key or an effect, a toleration is for all of them.
    return found.get("key") in (None, "", key) and found.get("effect") in (None, "", "NoExecute")


def _container_of_pod(container: Any, *, on_host: bool) -> None:
    if not isinstance(container, dict):
        return
    resources, ports = container.get("resources"), container.get("ports")
    if isinstance(resources, dict) and resources.get("limits"):
        # What has a limit and no request gets the limit as its request.
        resources["requests"] = {**_map(resources["limits"]), **_map(resources.get("requests"))}
    for port in ports if on_host and isinstance(ports, list) else ():
        if isinstance(port, dict):
            # In the network of its host, a container has the ports of the host.
            port.setdefault("hostPort", port.get("containerPort"))


def _controller(data: Fields) -> None:
    spec = data.get("spec")
    labels = _labels_of_template(spec)
    if isinstance(spec, dict) and labels:
        spec.setdefault("selector", labels)
    _labelled(data, labels)


def _job(data: Fields) -> None:
    spec = data.get("spec")
    if not isinstance(spec, dict):
        return
    # Before parallelism gets its default: the API server looks at both as they were written.
    if spec.get("completions") is None and spec.get("parallelism") is None:
        spec["completions"] = 1
    whole = "backoffLimitPerIndex" not in spec
    policy = "Failed" if "podFailurePolicy" in spec else "TerminatingOrFailed"
    _default(
        spec, parallelism=1, backoffLimit=6 if whole else _MOST_INT32, completionMode="NonIndexed"
    )
    _default(spec, manualSelector=False, suspend=False, podReplacementPolicy=policy)
    template = spec.get("template")
    if spec["manualSelector"] is False and isinstance(template, dict):
        name = _map(data.get("metadata")).get("name")
        # The labels without a prefix are those of older releases: pods get them still, and the
        # selector does not have them.
        own = {"batch.kubernetes.io/controller-uid": _UID, "batch.kubernetes.io/job-name": name}
        metadata = _map(template.get("metadata"))
        labels = {**_map(metadata.get("labels")), **own, "controller-uid": _UID, "job-name": name}
        template["metadata"] = {**metadata, "labels": labels}
        selector = _map(spec.get("selector"))
        found = {**_map(selector.get("matchLabels")), "batch.kubernetes.io/controller-uid": _UID}
        spec["selector"] = {**selector, "matchLabels": found}
    _labelled(data, _labels_of_template(spec))


def _labels_of_template(spec: Any) -> Mapping[str, Any]:
    return _map(_map(_map(_map(spec).get("template")).get("metadata")).get("labels"))


def _labelled(data: Fields, labels: Mapping[str, Any]) -> None:
    """Put labels on an object that has none."""
    metadata = data.get("metadata")
    if labels and isinstance(metadata, dict):
        metadata.setdefault("labels", labels)


def _daemon_set(data: Fields) -> None:
    metadata = data.get("metadata")
    if isinstance(metadata, dict):
        generation = {"deprecated.daemonset.template.generation": "1"}
        metadata["annotations"] = {**_map(metadata.get("annotations")), **generation}


def _stateful_set(data: Fields) -> None:
    templates = _map(data.get("spec")).get("volumeClaimTemplates")
    for template in templates if isinstance(templates, list) else ():
        if isinstance(template, dict):
            template.setdefault("status", {"phase": "Pending"})


OF_KINDS: Mapping[str, Fill] = MappingProxyType(
    {
        "apps/v1/DaemonSet": _daemon_set,
        "apps/v1/StatefulSet": _stateful_set,
        "batch/v1/Job": _job,
        "v1/Namespace": _namespace,
        "v1/PersistentVolumeClaim": _claim,
        "v1/Pod": _pod,
        "v1/ReplicationController": _controller,
        "v1/Secret": _secret,
    }
)
"""Functions that fill in the objects of a kind, by ``group/version/kind``."""


def _default(part: Fields, **values: Any) -> None:
    for field, value in values.items():
        part.setdefault(field, value)


def _map(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
