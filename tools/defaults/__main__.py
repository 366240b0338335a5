"""Writes the defaults of built-in kinds, as an API server of Kubernetes fills them in::

    python -m tools.defaults KUBECONFIG [--into FILE]

It creates the objects of ``objects.yaml`` without keeping them (dry run) and compares each answer
with what was sent, by the types of the server's OpenAPI documents. The file has the preferred
version of each kind that is served in several, the type of each kind, and of each type

- ``defaults``: the fields that are in every answer although nobody has sent them, always with the
  same value;
- ``omitted``: the fields of which an empty text, list or map, zero or false counts as absent;
- ``fields``: the types of its fields, as far as anything is known of them. ``[]`` stands before
  the type of the items of a list, ``{}`` before that of the values of a map.

A default that depends on anything else is none of these:
``fleet_components/content/conditional_defaults.py`` fills it in. Each is in ``CONDITIONAL``; any
other is an error, as a new release of Kubernetes may bring it.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import attrs
import yaml

from fleet_components.content.stored import QUANTITY
from fleet_components.live.connection import Connection, UnexpectedAnswer, connected
from fleet_components.model.kinds import BUILT_IN
from fleet_components.model.manifest import Manifest
from tools.openapi import kinds_of, lines, schemas_of, short

OBJECTS = Path(__file__).parent / "objects.yaml"
"""The objects that are sent."""
INTO = Path(__file__).parents[2] / "fleet_components" / "content" / "defaults.json"
"""The file that is written."""
CONDITIONAL: Mapping[str, str] = {
    "apiextensions.v1.CustomResourceDefinitionNames": "listKind singular",
    "apps.v1.DaemonSetUpdateStrategy": "rollingUpdate",
    "apps.v1.DeploymentStrategy": "rollingUpdate",
    "apps.v1.StatefulSetUpdateStrategy": "rollingUpdate",
    "autoscaling.v2.HPAScalingRules": "policies stabilizationWindowSeconds",
    "autoscaling.v2.HorizontalPodAutoscalerSpec": "metrics",
    "batch.v1.JobSpec": (
        "backoffLimit completionMode completions manualSelector parallelism podReplacementPolicy"
        " selector suspend"
    ),
    "certificates.v1.CertificateSigningRequestSpec": "extra groups username",
    "core.v1.Container": "imagePullPolicy volumeMounts",
    "core.v1.ContainerPort": "hostPort",
    "core.v1.ImageVolumeSource": "pullPolicy",
    "core.v1.LimitRangeItem": "default defaultRequest",
    "core.v1.PersistentVolumeClaimSpec": "dataSource dataSourceRef",
    "core.v1.PodSpec": (
        "enableServiceLinks preemptionPolicy priority serviceAccount serviceAccountName tolerations"
        " volumes"
    ),
    "core.v1.PodTemplateSpec": "metadata",
    "core.v1.ReplicationControllerSpec": "selector",
    "core.v1.ResourceRequirements": "requests",
    "core.v1.Secret": "data",
    "core.v1.ServicePort": "nodePort targetPort",
    "core.v1.ServiceSpec": (
        "allocateLoadBalancerNodePorts clusterIP clusterIPs externalTrafficPolicy"
        " healthCheckNodePort internalTrafficPolicy ipFamilies ipFamilyPolicy sessionAffinityConfig"
    ),
    "core.v1.Volume": "emptyDir",
    "meta.v1.ObjectMeta": (
        "annotations creationTimestamp finalizers generation labels managedFields name"
        " resourceVersion uid"
    ),
    "networking.v1.NetworkPolicySpec": "policyTypes",
    "rbac.v1.Subject": "apiGroup",
    "resource.v1.DeviceSubRequest": "count",
    "resource.v1.DeviceTaint": "timeAdded",
    "resource.v1.ExactDeviceRequest": "count",
}
"""Fields whose default depends on other fields, on the kind, on the cluster or on who sends the
object.
"""
_PATIENCE = 900.0
_DRY_RUN = "dryRun=All&fieldValidation=Strict"
_EMPTY: Mapping[str, Any] = {"string": "", "boolean": False, "integer": 0, "array": [], "map": {}}


def main() -> str | None:
    """Write the file, and return what is wrong."""
    parser = argparse.ArgumentParser(description="Write the defaults of built-in kinds.")
    parser.add_argument("kubeconfig", type=Path, help="of a cluster of the release")
    parser.add_argument("--into", type=Path, default=INTO, help="the file to write")
    asked = parser.parse_args()
    with connected(
        asked.kubeconfig.read_text(), time.monotonic() + _PATIENCE, sys.maxsize
    ) as connection:
        learning = Learning(connection)
        objects = objects_of_every_type()
        for data in objects:
            learning.compare(learning.type_of(data), data, create(connection, data))
        for data in objects:
            learning.try_without(data)
        unexpected = learning.conditional
        if unexpected:
            return f"the defaults of these have conditions: {', '.join(sorted(unexpected))}"
        document = learning.document()
    asked.into.write_text("\n".join(lines(document)) + "\n")
    return None


def objects_of_every_type() -> list[dict[str, Any]]:
    """Return the objects of ``objects.yaml``, which share no parts."""
    found: list[dict[str, Any]] = json.loads(json.dumps(yaml.safe_load(OBJECTS.read_text())))
    return found


def create(connection: Connection, data: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return what a dry run makes of an object.

    Raises:
        UnexpectedAnswer: it is refused.
    """
    manifest = Manifest(data)
    kind = BUILT_IN[manifest.group, manifest.kind]
    root = "/apis/" if manifest.group else "/api/"
    place = f"/namespaces/{manifest.namespace}" if kind.namespaced else ""
    path = f"{root}{manifest.api_version}{place}/{kind.plural}?{_DRY_RUN}"
    answer: Mapping[str, Any] = connection.ask("POST", path, data)
    return answer


@attrs.define
class Learning:
    """What the answers of an API server show.

    Attributes:
        connection: the API server.
        types: the types of its OpenAPI documents, by name.
        kinds: the type of each kind, by ``group/version/kind``.
        values: the values, as JSON, that each field of a type has had where nobody had sent it;
            None for no value.
        omitted: whether each field of a type that was sent empty was taken as absent.
        seen: the types of what was sent.
        tried: the kinds, types and fields that were taken out.
    """

    connection: Connection
    types: dict[str, Any] = attrs.field(init=False, factory=dict)
    kinds: dict[str, str] = attrs.field(init=False, factory=dict)
    values: dict[tuple[str, str], set[str | None]] = attrs.field(
        init=False, factory=lambda: defaultdict(set)
    )
    omitted: dict[tuple[str, str], bool] = attrs.field(init=False, factory=dict)
    seen: set[str] = attrs.field(init=False, factory=set)
    tried: set[tuple[str, str, str]] = attrs.field(init=False, factory=set)

    def __attrs_post_init__(self) -> None:
        self.types = {short(name): item for name, item in schemas_of(self.connection).items()}
        for name, schema in self.types.items():
            self.kinds.update((named, name) for _, _, named in kinds_of(schema))

    def type_of(self, data: Mapping[str, Any]) -> str:
        """Return the type of an object."""
        return self.kinds[f"{data['apiVersion']}/{data['kind']}"]

    def compare(self, name: str, sent: Any, stored: Any) -> None:
        """Learn from a value of a type: as it was sent, and as it is stored."""
        self.seen.add(name)
        for field, (sort, below) in self.fields(name).items():
            if field not in sent:
                self._learn((name, field), stored)
            elif below not in ("", QUANTITY):
                for item, other in _pairs(sort, sent[field], stored.get(field)):
                    self.compare(below, item, other)

    def try_without(self, data: dict[str, Any]) -> None:
        """Create an object once for each field that it has, without it, and once with the field
        left empty.

        Of the fields that it could have besides, only the empty ones are tried.
        """
        kind = self.type_of(data)
        for path, name in list(self._parts(kind, data, ())):
            part = _at(data, path)
            for field, (sort, below) in self.fields(name).items():
                written, empty = part.pop(field, None), _EMPTY.get(sort, None if below else "")
                if written is not None and (kind, name, field) not in self.tried:
                    self.tried.add((kind, name, field))
                    self._learn((name, field), self._part(data, path))
                if (name, field) not in self.omitted and empty is not None:
                    part[field] = empty
                    stored = self._part(data, path)
                    if stored is not None:
                        self.omitted[name, field] = stored.get(field) != empty
                part.pop(field, None)
                if written is not None:
                    part[field] = written

    def _learn(self, key: tuple[str, str], stored: Mapping[str, Any] | None) -> None:
        """Learn from a part of an object that was sent without a field; None if it was refused."""
        if stored is not None:
            found = json.dumps(stored[key[1]], sort_keys=True) if key[1] in stored else None
            self.values[key].add(found)

    def _part(self, data: Mapping[str, Any], path: tuple[str | int, ...]) -> Any:
        """Return what is stored of a part of an object; None if it is refused, or if the part is
        not stored.
        """
        try:
            return _at(create(self.connection, data), path)
        except (UnexpectedAnswer, LookupError):
            return None

    def fields(self, name: str) -> Mapping[str, tuple[str, str]]:
        """Return for each field of a type its sort, such as ``array``, and the type of what is in
        it; empty if none.
        """
        return {
            field: self._sort(item)
            for field, item in self.types[name].get("properties", {}).items()
        }

    def _sort(self, schema: Mapping[str, Any]) -> tuple[str, str]:
        inner = schema["allOf"][0] if schema.get("allOf") else schema
        below = inner.get("items") or inner.get("additionalProperties") or inner
        below = below["allOf"][0] if below.get("allOf") else below
        name = short(below.get("$ref", ""))
        mapped = "map" if "additionalProperties" in inner else ""
        has_more = self.types.get(name, {}).get("properties") or name == QUANTITY
        return mapped or inner.get("type") or "", name if has_more else ""

    def _parts(
        self, name: str, value: Any, path: tuple[str | int, ...]
    ) -> Iterator[tuple[tuple[str | int, ...], str]]:
        """Yield the path and the type of each part of a value that has fields."""
        yield path, name
        for field, (sort, below) in self.fields(name).items():
            if below not in ("", QUANTITY) and field in value:
                steps = {"array": range(len(value[field])), "map": value[field]}.get(sort)
                for way in ((field,),) if steps is None else ((field, step) for step in steps):
                    yield from self._parts(below, _at(value, way), (*path, *way))

    @property
    def conditional(self) -> set[str]:
        """The fields with several defaults, or with none in some answers, that nobody expects."""
        several = ((name, field) for (name, field), found in self.values.items() if len(found) > 1)
        own = set(self.kinds.values())
        return {
            f"{name}.{field}"
            for name, field in several
            if field not in _conditional(name) and (field != "status" or name not in own)
        }

    def document(self) -> dict[str, Any]:
        """Return what the file says."""
        kinds = {kind: name for kind, name in sorted(self.kinds.items()) if name in self.seen}
        types = {name: self._about(name) for name in sorted(self.seen)}
        known = {name: about for name, about in types.items() if about}
        return {"preferred": self._preferred(kinds), "kinds": kinds, "types": known}

    def _preferred(self, kinds: Mapping[str, str]) -> dict[str, str]:
        served: dict[tuple[str, str], list[str]] = defaultdict(list)
        for group, version, kind in (item.rsplit("/", 2) for item in kinds if item.count("/") == 2):
            served[group, kind].append(version)
        groups = self.connection.ask("GET", "/apis")["groups"]
        preferred = {group["name"]: group["preferredVersion"]["version"] for group in groups}
        several = {key: versions for key, versions in served.items() if len(versions) > 1}
        return {f"{group}/{kind}": preferred[group] for group, kind in sorted(several)}

    def _about(self, name: str) -> dict[str, Any]:
        fields = self.fields(name)
        # No object is sent with its status.
        own = ("status",) if name in self.kinds.values() else ()
        values = {
            field: self.values.get((name, field), {None}) for field in fields if field not in own
        }
        alike = {field: found for field, found in values.items() if found != {None}}
        settled = ((field, found) for field, found in alike.items() if len(found) == 1)
        known_values = {field: json.loads(text or "null") for field, (text,) in settled}
        unconditional = known_values.keys() - _conditional(name)
        defaults = {field: value for field, value in known_values.items() if field in unconditional}
        omitted = [field for field in fields if self.omitted.get((name, field))]
        kept = self.seen | {QUANTITY}
        known = {field: (sort, below) for field, (sort, below) in fields.items() if below in kept}
        signs = {"array": "[]", "map": "{}"}
        types = {field: f"{signs.get(sort, '')}{below}" for field, (sort, below) in known.items()}
        about = {"defaults": defaults, "omitted": omitted, "fields": types}
        return {part: item for part, item in about.items() if item}


def _conditional(name: str) -> set[str]:
    """Return the fields of a type whose default depends on something."""
    return set(CONDITIONAL.get(name, "").split())


def _pairs(sort: str, sent: Any, stored: Any) -> Iterator[tuple[Any, Any]]:
    """Yield the parts of a field as they were sent, each with the same part as it is stored."""
    match sort:
        case "array":
            yield from zip(sent, stored or (), strict=False)
        case "map":
            yield from ((item, (stored or {}).get(key)) for key, item in sent.items())
        case _ if stored is not None:
            yield sent, stored


def _at(value: Any, path: tuple[str | int, ...]) -> Any:
    for step in path:
        value = value[step]
    return value


if __name__ == "__main__":
    sys.exit(main())
