"""Members, policies and outcomes in few words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

from fleet_components.model.cluster import Cluster, Taint, Usage
from fleet_components.model.codec import decode
from fleet_components.model.decision import Decision, Status
from fleet_components.model.inventory import Inventory
from fleet_components.systems.kubefleet.model.memory import PlacementMemory
from fleet_components.systems.kubefleet.model.placement import PlacementPolicy
from tests.scheduler.kubefleet.hub import next_cycle

NOW = datetime(2026, 1, 31, 12, tzinfo=UTC)
Members = Iterable[Cluster]


def member(name: str, **attributes: Any) -> Cluster:
    """A declared member."""
    return Cluster(name, **attributes)


def labelled(**members: Mapping[str, str]) -> list[Cluster]:
    """Members by name with their labels."""
    return [Cluster(name, labels=labels) for name, labels in members.items()]


def valued(**values: str | None) -> list[Cluster]:
    """Members by name with the value of the property ``p``; None for none."""
    return [
        Cluster(name, properties={} if value is None else {"p": value})
        for name, value in values.items()
    ]


def tainted(*taints: str) -> Cluster:
    """The member ``m`` with taints written as ``key=value``."""
    parts = [taint.split("=") for taint in taints]
    return Cluster("m", taints=tuple(Taint(key, value) for key, value in parts))


def usage(**available: str) -> Usage:
    """Resource usage with these available amounts."""
    return Usage(capacity={"cpu": "100"}, allocatable={"cpu": "50"}, available=available)


def policy(kind: str, number: int | None = None, **fields: Any) -> PlacementPolicy:
    """A policy from its wire form."""
    return decode(PlacementPolicy, {"placementType": kind, "numberOfClusters": number, **fields})


def pick_n(number: int, **fields: Any) -> PlacementPolicy:
    """A PickN policy."""
    return policy("PickN", number, **fields)


def preferring(
    number: int, *terms: tuple[int, Mapping[str, Any]], **fields: Any
) -> PlacementPolicy:
    """A PickN policy with preferred terms, each a weight and a preference."""
    preferred = [{"weight": weight, "preference": preference} for weight, preference in terms]
    return pick_n(
        number, **affinity(preferredDuringSchedulingIgnoredDuringExecution=preferred), **fields
    )


def requiring(
    kind: str = "PickAll", number: int | None = None, *terms: Mapping[str, Any]
) -> PlacementPolicy:
    """A policy with required terms."""
    required = {"clusterSelectorTerms": list(terms)}
    return policy(kind, number, **affinity(requiredDuringSchedulingIgnoredDuringExecution=required))


def affinity(**terms: Any) -> dict[str, Any]:
    """The field of a policy that holds these terms."""
    return {"affinity": {"clusterAffinity": terms}}


def label(**labels: str) -> dict[str, Any]:
    """A term or preference by labels."""
    return {"labelSelector": {"matchLabels": labels}}


def where(name: str, operator: str, *values: str) -> dict[str, Any]:
    """A required term by one property."""
    return {
        "propertySelector": {
            "matchExpressions": [{"name": name, "operator": operator, "values": list(values)}]
        }
    }


def by(name: str, order: str = "Descending") -> dict[str, Any]:
    """A preference that ranks by a property."""
    return {"propertySorter": {"name": name, "sortOrder": order}}


def spread(key: str, skew: int = 1, when: str = "DoNotSchedule") -> dict[str, Any]:
    """A topology spread constraint."""
    return {"topologyKey": key, "maxSkew": skew, "whenUnsatisfiable": when}


def run(
    members: Members,
    policy: PlacementPolicy | None,
    memory: PlacementMemory = PlacementMemory(),
    *,
    namespace: str = "",
    status: Status = Status(),
) -> Decision[PlacementMemory]:
    """Schedule once, now, on a hub where this status stands."""
    return next_cycle(
        Inventory(members, NOW), policy, Decision(memory, status), namespace=namespace
    )


def reasons(decision: Decision[PlacementMemory]) -> dict[str, str]:
    """Why members are not selected, by name."""
    return {
        entry.cluster_name: entry.reason
        for entry in decision.status.decisions
        if not entry.selected
    }


def entries(decision: Decision[PlacementMemory]) -> list[str]:
    """The names in the decision list; those that are not selected with a dash before."""
    return [
        ("" if entry.selected else "-") + entry.cluster_name for entry in decision.status.decisions
    ]


def scores(decision: Decision[PlacementMemory]) -> dict[str, tuple[int | None, int | None]]:
    """Affinity and spread score of every selected member."""
    return {
        n: (b.affinity_score, b.topology_spread_score) for n, b in decision.memory.bindings.items()
    }


def states(decision: Decision[PlacementMemory]) -> dict[str, str]:
    """The state of every binding."""
    return {name: binding.state for name, binding in decision.memory.bindings.items()}
