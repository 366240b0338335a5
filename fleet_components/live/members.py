"""Asks plain clusters for what an agent would tell a hub of them: nodes, pods, version and APIs. Nothing is written."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from datetime import datetime
from functools import partial

import attrs

from fleet_components.hub.cluster_facts import ClusterFacts
from fleet_components.hub.listing import Object, Query, Resource
from fleet_components.live.at_once import at_once
from fleet_components.live.discovery import kinds_of
from fleet_components.live.failures import NOT_KUBERNETES
from fleet_components.live.getting import Getter, Unanswered, Unreachable, getter
from fleet_components.live.kubeconfig import endpoint_of
from fleet_components.live.lists import objects_of
from fleet_components.model.text import count, few
from fleet_components.model.watch import Watch, unwatched

_AT_ONCE = 32
_NO_TIME = "does not tell the time in its answers, as API servers do"
_NODES = Query("v1", "Node"), Resource("v1", "Node", "nodes", False)
_PODS = Query("v1", "Pod"), Resource("v1", "Pod", "pods", True)


@attrs.frozen
class AskedMember:
    """A cluster that was asked.

    Attributes:
        facts: what it has told; None if it has not told all of it.
        reason: why not, after the name of the member; empty if it has.
        time: the time of its own clock at its first answer; None if it has told nothing.
    """

    facts: ClusterFacts | None = None
    reason: str = ""
    time: datetime | None = None


def ask_members(
    kubeconfigs: Mapping[str, str], *, timeout: float = 10.0, watch: Watch = unwatched
) -> Mapping[str, AskedMember]:
    """Ask clusters for their nodes, pods, version and kinds, many of them at once.

    Args:
        kubeconfigs: the texts of their kubeconfigs, by name of the member.
        timeout: limit for each of them, in seconds.
        watch: is told how many have answered.
    """
    found: dict[str, AskedMember] = {}

    def ask(name: str, kubeconfig: str) -> None:
        found[name] = _ask(kubeconfig, timeout)

    done = at_once((partial(ask, name, text) for name, text in kubeconfigs.items()), _AT_ONCE)
    for number in range(len(kubeconfigs)):
        begun = [name for name in kubeconfigs if name not in found][:_AT_ONCE]
        answers = f"asking {count(len(kubeconfigs), 'member')}: {number} answered, waiting for {few(begun, 3)}"
        with watch(answers):
            next(done)
    return dict(sorted(found.items()))


def _ask(kubeconfig: str, timeout: float) -> AskedMember:
    try:
        with getter(kubeconfig, timeout) as cluster:
            return AskedMember(cluster.within(lambda: _facts(cluster)), "" if cluster.date else _NO_TIME, cluster.date)
    except Unreachable as error:
        return AskedMember(reason=_silent(kubeconfig, f"cannot be asked: {error}", error.hint))
    except Unanswered as error:
        return AskedMember(reason=_silent(kubeconfig, f"cannot be observed: a request {error.what}", error.hint))


def _silent(kubeconfig: str, why: str, hint: str) -> str:
    more = "; ".join(filter(None, (endpoint_of(kubeconfig), hint)))
    return f"{why} ({more})" if more else why


def _facts(cluster: Getter) -> ClusterFacts:
    version = cluster.get("/version")
    nodes, pods = objects_of(cluster, *_NODES), objects_of(cluster, *_PODS)
    # An agent that fails to read a quantity tells nothing; here the member is named.
    with suppress(AttributeError, TypeError, ValueError):
        return ClusterFacts(nodes, map(_read_of, pods), str(version.get("gitVersion") or ""), kinds_of(cluster))
    raise Unanswered(NOT_KUBERNETES)


def _read_of(pod: Object) -> Object:
    """Return what agents read of a pod: the pods of all members are kept until the last one has answered."""
    metadata, spec = pod["metadata"], pod.get("spec") or {}
    containers = {
        field: [{"resources": item.get("resources")} for item in spec.get(field) or ()]
        for field in ("containers", "initContainers")
    }
    return {
        "apiVersion": pod["apiVersion"],
        "kind": pod["kind"],
        "metadata": {"name": metadata["name"], "namespace": metadata["namespace"]},
        "spec": {"nodeName": spec.get("nodeName"), "overhead": spec.get("overhead"), **containers},
        "status": {"phase": (pod.get("status") or {}).get("phase")},
    }
