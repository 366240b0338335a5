"""Reasons why a workload on a member is not available: its conditions, its pods and the events
about them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import quote, urlencode

from fleet_components.live.connection import Connection
from fleet_components.model.manifest import Manifest, value_at
from fleet_components.model.text import few, visible

# Events in the result, characters of a text, items in an answer, and pods that are named.
_MOST_EVENTS, _LONGEST, _MOST_READ, _SHOWN = 3, 300, 100, 2
_BAD_WHEN_TRUE = ("ReplicaFailure",)
_GOOD_WHEN_TRUE = ("Available", "Progressing", "Established", "NamesAccepted", "Ready")


def causes(member: Connection, live: Mapping[str, Any]) -> Iterator[str]:
    """Yield in words why an object is not available, the most telling first.

    Raises:
        TimeoutError: the deadline has passed.
        UnexpectedAnswer: the member does not let its pods or events be read.
    """
    manifest = Manifest(live)
    yield from map(_short, _conditions(live))
    if not manifest.namespace:
        return
    space = f"/api/v1/namespaces/{quote(manifest.namespace)}"
    pods = [pod for pod in _pods(member, space, live) if not _is_ready(pod)]
    alike: dict[str, list[str]] = defaultdict(list)
    for pod in pods:
        for text in _of_pod(pod):
            alike[text].append(pod["metadata"]["name"])
    yield from (
        _short(f"{'pod' if len(of) == 1 else 'pods'} {few(of, _SHOWN)}: {text}")
        for text, of in alike.items()
    )
    names = {manifest.name, *(pod["metadata"]["name"] for pod in pods)}
    # Events often repeat the status of a pod.
    reasons = "\n".join(alike)
    yield from map(
        _short, dict.fromkeys(text for text in _events(member, space, names) if text not in reasons)
    )


def _conditions(live: Mapping[str, Any]) -> Iterator[str]:
    for item in value_at(live, ("status", "conditions")) or ():
        wrong = {
            "False": item.get("type") in _GOOD_WHEN_TRUE,
            "True": item.get("type") in _BAD_WHEN_TRUE,
        }
        if wrong.get(item.get("status"), False) and item.get("message"):
            yield f"{item.get('reason')}: {item['message']}"


def _pods(member: Connection, space: str, live: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    labels = value_at(live, ("spec", "selector", "matchLabels"))
    if not isinstance(labels, Mapping) or not labels:
        return ()
    query = urlencode(
        {
            "labelSelector": ",".join(f"{key}={value}" for key, value in labels.items()),
            "limit": _MOST_READ,
        }
    )
    return (member.ask("GET", f"{space}/pods?{query}") or {}).get("items") or ()


def _is_ready(pod: Mapping[str, Any]) -> bool:
    conditions = value_at(pod, ("status", "conditions")) or ()
    return any(
        condition.get("type") == "Ready" and condition.get("status") == "True"
        for condition in conditions
    )


def _of_pod(pod: Mapping[str, Any]) -> Iterator[str]:
    status = pod.get("status") or {}
    for condition in status.get("conditions") or ():
        if condition.get("type") == "PodScheduled" and condition.get("status") == "False":
            yield f"{condition.get('reason')}: {condition.get('message')}"
    for item in (
        *(status.get("initContainerStatuses") or ()),
        *(status.get("containerStatuses") or ()),
    ):
        waiting = value_at(item, ("state", "waiting")) or {}
        ended = (
            value_at(item, ("lastState", "terminated"))
            or value_at(item, ("state", "terminated"))
            or {}
        )
        reasons = (
            [f"{waiting['reason']}: {waiting.get('message') or 'no message'}"]
            if waiting.get("reason")
            else []
        )
        # An exit code of 0 is no reason.
        reasons += (
            [f"ended with {ended['exitCode']} ({ended.get('reason')})"]
            if ended.get("exitCode")
            else []
        )
        reasons += [f"{item['restartCount']} restarts"] if item.get("restartCount") else []
        if reasons:
            yield f"container {item.get('name')}: {', '.join(reasons)}"


def _events(member: Connection, space: str, names: set[str]) -> Iterator[str]:
    query = urlencode({"fieldSelector": "type=Warning", "limit": _MOST_READ})
    items = (member.ask("GET", f"{space}/events?{query}") or {}).get("items") or ()
    about = [item for item in items if value_at(item, ("involvedObject", "name")) in names]
    newest = sorted(
        about,
        key=lambda each: str(each.get("lastTimestamp") or each.get("eventTime") or ""),
        reverse=True,
    )
    for each in newest[:_MOST_EVENTS]:
        yield str(each.get("message"))


def _short(text: str) -> str:
    """Return a text that fits a line or two, and that commands nothing."""
    shown = visible(" ".join(text.split()))
    return shown if len(shown) <= _LONGEST else f"{shown[:_LONGEST]}..."


def finalizers_of(live: Any) -> str:
    """Return the finalizers of an object, as the end of a sentence; empty if it has none."""
    finalizers = value_at(live, ("metadata", "finalizers"))
    return f"; its finalizers: {few(finalizers)}" if finalizers else ""
