"""Trial of an object that is deleted and created anew: does its API server take the new form?

A server-side dry run says so, and changes nothing. While the old object stands its name is taken,
so the new form is tried under another name, and without what only the old object keeps from it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from http import client as http
from itertools import islice
from typing import Any
from urllib.parse import quote

import attrs

from fleet_components.content.replacement import as_sent
from fleet_components.content.secret import secret_values
from fleet_components.live.asked_objects import WantedObject
from fleet_components.live.connection import (
    Connection,
    Leftover,
    UnexpectedAnswer,
    connected,
    within,
)
from fleet_components.live.exchange import member_room
from fleet_components.model.manifest import Manifest, ObjectKey, value_at
from fleet_components.model.observed import SILENT, UNUSABLE
from fleet_components.model.quantity import is_quantity, parse_quantity
from fleet_components.model.text import few

_UNREAD = "its API server {}"
_HELD = "the object itself holds {}"
_QUOTA = "the object itself holds what its new form needs of ResourceQuota {}"
_WEBHOOK = "webhook {} does not support dry runs"
_NAMES = "the user of the kubeconfig may not write an object of this kind under another name"
_NAMED = "its API server takes no object of this kind under another name"
_UNDECIDED = (
    *(http.UNAUTHORIZED, http.NOT_FOUND, http.REQUEST_TIMEOUT, http.CONFLICT),
    *(http.TOO_MANY_REQUESTS, http.BAD_GATEWAY, http.SERVICE_UNAVAILABLE, http.GATEWAY_TIMEOUT),
)
"""Statuses that say nothing about the object."""
_WEBHOOKS = ("MutatingWebhookConfiguration", "ValidatingWebhookConfiguration")
_DRY_RUN = (None, "None", "NoneOnDryRun")
_LONGEST_NAME = 40
"""Leaves room below the shortest limit of a name, the 52 characters of a CronJob."""
_SUFFIX = 5


@attrs.frozen
class FormTrial:
    """Answer of an API server to the new form of an object.

    Attributes:
        refused: why it refuses the new form, in its words; empty if it does not.
        unchecked: why the new form, or a part of it, could not be tried; empty if all of it was.
        uid: the uid of the object that stands; empty if there is none, or nobody answers.
    """

    refused: str = ""
    unchecked: str = ""
    uid: str = ""


def try_all(
    kubeconfig: str, objects: Sequence[WantedObject], *, timeout: float = 10.0
) -> Mapping[ObjectKey, FormTrial]:
    """Return what an API server says to the new form of each object that is to be replaced.

    Args:
        kubeconfig: the text of a kubeconfig.
        objects: the objects in their new form.
        timeout: limit for the whole call, in seconds; each object adds a quarter of a second.
    """
    found: dict[ObjectKey, FormTrial] = {}
    # The last reason counts, wherever the thread is when it is abandoned.
    reasons = [UNUSABLE]

    def ask(deadline: float) -> None:
        with connected(kubeconfig, deadline, member_room(len(objects))) as member:
            reasons.append(SILENT)
            member.secrets = secret_values(item.data for item in objects)
            for item in objects:
                found[Manifest(item.data).key] = tried(member, item)

    within(timeout + len(objects) / 4, ask)
    # A copy, because an abandoned thread may still change it.
    known, silent = dict(found), FormTrial(unchecked=reasons[-1])
    return {key: known.get(key, silent) for key in (Manifest(item.data).key for item in objects)}


def tried(member: Connection, wanted: WantedObject) -> FormTrial:
    """Return what an API server says to the new form of an object.

    Raises:
        TimeoutError: the deadline has passed.
    """
    sent = {key: value for key, value in as_sent(wanted.data).items() if value is not None}
    try:
        there = member.get(Leftover.like(sent))
    except UnexpectedAnswer as error:
        return FormTrial(unchecked=_UNREAD.format(error))
    uid = str(value_at(there, ("metadata", "uid")) or "")
    beside, held = (_beside(sent, there), _held(sent, there)) if there else (sent, ())
    mode, shape = wanted.mode, _without(beside, held)
    try:
        # A provider that does not adopt objects creates them, any other applies them.
        member.try_out(shape, manager=wanted.manager, force=mode.forces, create=not mode.adopts)
    except UnexpectedAnswer as error:
        unclear = _unclear(member, error, sent, there) or _barred(member, error, sent, shape)
        return FormTrial("" if unclear else error.words(sent), unclear, uid)
    fields = few([".".join(map(str, path)) for path in held])
    return FormTrial(unchecked=_HELD.format(fields) if held else "", uid=uid)


def _unclear(
    member: Connection, error: UnexpectedAnswer, sent: Mapping[str, Any], there: Any
) -> str:
    """Return why a refusal says nothing about the new form; empty if it does."""
    if not error.code or error.code in _UNDECIDED:
        return _UNREAD.format(error)
    # Only the other name is refused, and the object itself does not have that name.
    if there and error.fields and set(error.fields) <= {"metadata.name", "metadata.generateName"}:
        return _NAMED
    try:
        # A webhook that may not be called in a dry run makes it a bad request (apiserver 1.36,
        # pkg/admission/plugin/webhook/errors/statuserror.go, NewDryRunUnsupportedErr).
        if error.code == http.BAD_REQUEST:
            return "".join(_WEBHOOK.format(text) for text in islice(_undryable(member), 1))
        # The plug-in for quotas, which is asked last, names the object; a webhook names nothing.
        named = error.details.get("kind") and not error.fields
        if there and error.code == http.FORBIDDEN and named:
            quotas = _tight(member, sent, there)
            return _QUOTA.format(few(quotas)) if quotas else ""
    except UnexpectedAnswer:
        return _UNREAD.format(error)
    return ""


def _barred(
    member: Connection, error: UnexpectedAnswer, sent: Mapping[str, Any], shape: Mapping[str, Any]
) -> str:
    """Return why a refusal is one of the other name alone: the user may write certain names
    only.
    """
    if error.code != http.FORBIDDEN or shape["metadata"]["name"] == sent["metadata"]["name"]:
        return ""
    try:
        barred = _may_write(member, sent) and not _may_write(member, shape)
    except UnexpectedAnswer:
        return _UNREAD.format(error)
    return _NAMES if barred else ""


def _may_write(member: Connection, data: Mapping[str, Any]) -> bool:
    """Return whether the user of the kubeconfig may apply an object."""
    manifest = Manifest(data)
    asked = {"verb": "patch", "group": manifest.group, "name": manifest.key.name}
    asked["resource"] = member.plural(manifest.api_version, manifest.kind)
    asked["namespace"] = manifest.namespace
    review = {
        "apiVersion": "authorization.k8s.io/v1",
        "kind": "SelfSubjectAccessReview",
        "spec": {"resourceAttributes": asked},
    }
    answer = member.ask("POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", review)
    return value_at(answer, ("status", "allowed")) is True


def _undryable(member: Connection) -> Iterator[str]:
    """Yield the webhooks that have side effects in dry runs."""
    for kind in _WEBHOOKS:
        for configuration in member.items("admissionregistration.k8s.io", kind):
            for webhook in configuration.get("webhooks") or ():
                if webhook.get("sideEffects") not in _DRY_RUN:
                    yield str(webhook.get("name"))


def _beside(sent: Mapping[str, Any], there: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the object under a name that it can have beside the one that stands."""
    # A part of the uid makes a name that is free, and the same in each trial.
    suffix = str(there["metadata"]["uid"])[:_SUFFIX]
    name = f"{sent['metadata']['name'][:_LONGEST_NAME].rstrip('-.:')}-{suffix}"
    if sent["kind"] == "CustomResourceDefinition":
        # It is called by its plural and its group.
        spec = sent["spec"]
        plural = f"{spec['names']['plural'][:_LONGEST_NAME]}{suffix}"
        name, names = f"{plural}.{spec['group']}", {**spec["names"], "plural": plural}
        sent = {**sent, "spec": {**spec, "names": names}}
    return {**sent, "metadata": {**sent["metadata"], "name": name}}


def _held(sent: Mapping[str, Any], there: Mapping[str, Any]) -> tuple[tuple[str | int, ...], ...]:
    """Return the fields whose values nothing else can have while the old object has them."""
    match Manifest(sent).group, sent["kind"]:
        case "", "Service":
            return tuple(_held_by_service(sent.get("spec") or {}, there.get("spec") or {}))
        # There is one default only (kubernetes 1.36, plugin/pkg/admission/priority/admission.go).
        case "scheduling.k8s.io", "PriorityClass":
            both = sent.get("globalDefault") and there.get("globalDefault")
            return (("globalDefault",),) if both else ()
    return ()


def _held_by_service(
    spec: Mapping[str, Any], was: Mapping[str, Any]
) -> Iterator[tuple[str | int, ...]]:
    ports = {port.get("nodePort") for port in was.get("ports") or ()}
    ports.add(was.get("healthCheckNodePort"))
    # A headless Service has the address "None".
    addresses = {was.get("clusterIP"), *(was.get("clusterIPs") or ())} - {None, "", "None"}
    if addresses & {spec.get("clusterIP"), *(spec.get("clusterIPs") or ())}:
        # Both tell the first address, and have to agree on it.
        yield from (("spec", field) for field in ("clusterIP", "clusterIPs") if spec.get(field))
    if spec.get("healthCheckNodePort") and spec["healthCheckNodePort"] in ports:
        yield "spec", "healthCheckNodePort"
    for index, port in enumerate(spec.get("ports") or ()):
        if port.get("nodePort") and port["nodePort"] in ports:
            yield "spec", "ports", index, "nodePort"


def _without(data: Any, paths: Sequence[tuple[str | int, ...]]) -> Any:
    """Return a value without some of its fields."""
    inner: dict[str | int, list[tuple[str | int, ...]]] = {}
    for first, *rest in paths:
        inner.setdefault(first, []).append(tuple(rest))
    items = enumerate(data) if isinstance(data, list) else data.items()
    kept = {
        step: _without(value, inner[step]) if step in inner else value
        for step, value in items
        if () not in inner.get(step, ())
    }
    return list(kept.values()) if isinstance(data, list) else kept


def _tight(member: Connection, sent: Mapping[str, Any], there: Mapping[str, Any]) -> list[str]:
    """Return the quotas that have room for the new form only once the old one is gone.

    Empty if there are none, or if the new form needs more than that: it is refused in any case.
    """
    space = Manifest(sent).namespace
    path = f"/api/v1/namespaces/{quote(space)}/resourcequotas"
    quotas = member.ask("GET", path) if space else None
    plural = member.plural(str(sent["apiVersion"]), str(sent["kind"]))
    needed, left, found = _usage(sent, plural), _usage(there, plural), []
    for quota in (quotas or {}).get("items") or ():
        hard, used = (value_at(quota, ("status", side)) or {} for side in ("hard", "used"))
        room = {name: _amount(hard[name]) - _amount(used.get(name)) for name in hard}
        missing = {name: needed[name] - room[name] for name in needed.keys() & room.keys()}
        if any(amount > left.get(name, 0) for name, amount in missing.items()):
            return []
        # The compute resources of a Pod are not in ``needed``, so any quota on them may be the
        # tight one.
        computes = sent["kind"] == "Pod" and room.keys() - needed.keys()
        if computes or any(amount > 0 for amount in missing.values()):
            found.append(str(quota["metadata"]["name"]))
    return found


def _usage(data: Mapping[str, Any], plural: str) -> Mapping[str, int]:
    """Return what an object takes of quotas, in units of 1e-9, by the name of the resource.

    Source: ``pkg/quota/v1/evaluator/core`` of Kubernetes 1.36. What a Pod computes with is left
    out, because it has defaults.
    """
    group, spec = Manifest(data).group, data.get("spec") or {}
    found = {f"count/{plural}.{group}": 1} if group else {f"count/{plural}": 1, plural: 1}
    sizes: dict[str, int] = {}
    match group, data["kind"]:
        case "", "PersistentVolumeClaim":
            size = _amount(value_at(spec, ("resources", "requests", "storage")))
            of_class = f"{spec.get('storageClassName')}.storageclass.storage.k8s.io"
            found[f"{of_class}/persistentvolumeclaims"] = 1
            sizes = {"requests.storage": size, f"{of_class}/requests.storage": size}
        case "", "Service" if spec.get("type") in ("NodePort", "LoadBalancer"):
            found["services.nodeports"] = len(spec.get("ports") or ())
            found["services.loadbalancers"] = int(spec["type"] == "LoadBalancer")
    return {name: number * _amount(1) for name, number in found.items()} | sizes


def _amount(value: Any) -> int:
    text = str(value)
    return parse_quantity(text).nano if is_quantity(text) else 0
