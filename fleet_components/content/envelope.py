"""Envelopes: objects that contain manifests which must not take effect on the hub itself.

Source: ``pkg/controllers/workgenerator/envelope.go`` of KubeFleet 0.3.1. An envelope is not created
on members; its manifests are applied unchanged, in a work of their own.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from fleet_components.content.catalogue import Catalogue
from fleet_components.content.guarded import UnreadableError, read_yaml
from fleet_components.content.header import check_header
from fleet_components.content.revision import canonical
from fleet_components.model.kinds import BUILT_IN
from fleet_components.model.manifest import Manifest, Origin
from fleet_components.model.message import Message
from fleet_components.model.problem import FieldPath, FleetError, Problem
from fleet_components.model.text import few

_GROUP = "placement.kubernetes-fleet.io"
_CLUSTER, _NAMESPACED = "ClusterResourceEnvelope", "ResourceEnvelope"


def is_envelope(manifest: Manifest) -> bool:
    """Return whether the object is a ``ResourceEnvelope`` or ``ClusterResourceEnvelope``."""
    return manifest.group == _GROUP and manifest.kind in (_CLUSTER, _NAMESPACED)


def unwrapped(manifests: Iterable[Manifest]) -> Iterator[Manifest]:
    """Yield the objects that members get: those in envelopes, and all others as they are.

    Raises:
        FleetError: as for :func:`unwrap`.
    """
    for manifest in manifests:
        yield from unwrap(manifest) if is_envelope(manifest) else (manifest,)


def unwrap(envelope: Manifest) -> tuple[Manifest, ...]:
    """Return the manifests in an envelope in the order of its work: descending by their JSON.

    Raises:
        FleetError: a manifest is invalid or in the wrong kind of envelope; with the text that
            KubeFleet shows in the condition ``WorkSynchronized``.
    """
    data = envelope.data.get("data")
    data = {} if data is None else data  # admission counts what is in it; overrides may empty it
    if not isinstance(data, Mapping):
        raise FleetError(
            [
                envelope.problem(
                    Message("must-map-manifests", "must be a map of manifests"), ("data",)
                )
            ]
        )
    problems = [problem for key in sorted(data) for problem in _check(envelope, key, data[key])]
    if problems:
        raise FleetError(problems)
    wrapped = [_wrapped(envelope, key, data[key]) for key in data]
    # Problems first: an object that cannot be read has no JSON to sort by.
    return tuple(sorted(wrapped, key=lambda manifest: canonical(manifest.data), reverse=True))


def contents_of(envelope: Manifest) -> Iterator[tuple[str, Manifest]]:
    """Yield the manifests in an envelope that can be read, each after its key, by key."""
    given = envelope.data.get("data")
    data: Mapping[str, Any] = given if isinstance(given, Mapping) else {}
    for key in sorted(data):
        if not any(_check(envelope, key, data[key])):
            yield key, _wrapped(envelope, key, data[key])


def unopened(manifest: Manifest) -> str:
    """Return why an envelope cannot be opened; empty if it can, or if the object is none."""
    try:
        tuple(unwrapped((manifest,)))
    except FleetError as error:
        first = error.problems[0]
        # The reader knows the envelope already, but not an object in it.
        subject = "" if first.subject == str(manifest.key) else first.subject
        return str(Problem(first.message, first.path, subject=subject))
    return ""


def out_of_place(manifests: Iterable[Manifest], definitions: Catalogue) -> Iterator[Problem]:
    """Yield problems of contents whose kind lives elsewhere: a hub hands them out, and every member
    refuses them.

    Args:
        manifests: contents of envelopes.
        definitions: the definitions of custom kinds.
    """
    for manifest in manifests:
        kind = definitions.kind(manifest.group, manifest.kind)
        if kind and kind.namespaced and not manifest.namespace:
            hint = "write its namespace, and put it into a ResourceEnvelope there"
            yield manifest.problem(
                Message(
                    "objects-live-namespace", "{kind} objects live in a namespace", kind=kind.kind
                ),
                ("metadata", "namespace"),
                hint,
            )
        elif kind and manifest.namespace and not kind.namespaced:
            hint = "take its namespace out, and put it into a ClusterResourceEnvelope"
            yield manifest.problem(
                Message(
                    "objects-live-no-namespace",
                    "{kind} objects live in no namespace",
                    kind=kind.kind,
                ),
                ("metadata", "namespace"),
                hint,
            )


def successors(config_map: Manifest) -> str:
    """Return the envelopes that take the place of a ConfigMap that KubeFleet opened as one before
    v0.1.
    """
    # Texts that are not manifests are left out: a ConfigMap may hold anything.
    keys: dict[str, list[str]] = defaultdict(list)
    for key, text in sorted((config_map.data.get("data") or {}).items()):
        try:
            data = read_yaml(text)
        except UnreadableError:
            continue
        if (
            isinstance(data, Mapping)
            and data.get("kind")
            and isinstance(data.get("metadata"), Mapping)
        ):
            keys[_successor(Manifest(data), config_map)].append(key)
    return " and ".join(
        f"a {envelope} with {few(inside)}" for envelope, inside in sorted(keys.items())
    )


def _successor(manifest: Manifest, config_map: Manifest) -> str:
    kind = BUILT_IN.get((manifest.group, manifest.kind))
    # The scope of a custom kind is not known here: one of its objects with a namespace shows it.
    namespaced = kind.namespaced if kind else bool(manifest.namespace)
    place = f"{manifest.namespace or config_map.namespace}/" if namespaced else ""
    return f"{_NAMESPACED if namespaced else _CLUSTER} {place}{config_map.name}"


def _wrapped(envelope: Manifest, key: str, data: Mapping[str, Any]) -> Manifest:
    outer = envelope.origin or Origin("", None, lambda _: None)

    def locate(path: FieldPath) -> int | None:
        return outer.locate(("data", key, *path))

    return Manifest(data, Origin(outer.file, locate(()), locate, f"{envelope.key}, {key}"))


def _check(envelope: Manifest, key: str, data: Any) -> Iterator[Problem]:
    path = ("data", key)
    if not isinstance(data, Mapping):
        hint = "write the manifest itself, not as text"
        yield envelope.problem(
            Message("must-object-not", "must be an object, not {type}", type=type(data).__name__),
            path,
            hint,
        )
    elif not data.get("kind"):
        # KubeFleet's text goes on with the whole object, which may be a Secret.
        error = "Object 'Kind' is missing"
        yield envelope.problem(
            Message(
                "envelope-object-without-kind",
                "failed to parse the wrapped manifest data to a Kubernetes runtime object"
                " (manifestKey={key},envelopeObjRef={ref}): {error}",
                key=key,
                ref=_ref(envelope),
                error=error,
            ),
            path,
        )
    else:
        manifest = _wrapped(envelope, key, data)
        # The scope of an object is checked only if its header is valid: an empty list is false.
        yield from check_header(manifest) or _check_scope(envelope, key, manifest)


def _check_scope(envelope: Manifest, key: str, manifest: Manifest) -> Iterator[Problem]:
    wrapped, hint = f"{key} ({_ref(manifest)})", f"write namespace: {envelope.namespace}"
    if envelope.kind == _CLUSTER and manifest.namespace:
        what = Message(
            "namespaced-object-wrapped-cluster",
            "a namespaced object {wrapped} has been wrapped in a cluster resource envelope {ref}",
            wrapped=wrapped,
            ref=_ref(envelope),
        )
        hint = "put it into a ResourceEnvelope of its namespace"
    elif envelope.kind == _NAMESPACED and not manifest.namespace:
        what = Message(
            "cluster-scope-object-wrapped",
            "a cluster scope object {wrapped} has been wrapped in a resource envelope {ref}",
            wrapped=wrapped,
            ref=_ref(envelope),
        )
        hint += ", or put a cluster-scoped object into a ClusterResourceEnvelope"
    elif envelope.kind == _NAMESPACED and manifest.namespace != envelope.namespace:
        place = f"a resource envelope from another namespace ({_ref(envelope)})"
        # The superfluous "in" is KubeFleet's.
        what = Message(
            "namespaced-object-wrapped",
            "a namespaced object {wrapped} in has been wrapped in {place}",
            wrapped=wrapped,
            place=place,
        )
    else:
        return
    yield envelope.problem(what, ("data", key, "metadata", "namespace"), hint)


def _ref(manifest: Manifest) -> str:
    return f"{manifest.namespace}/{manifest.name}" if manifest.namespace else manifest.name
