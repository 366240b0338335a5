"""Karmada policies as typed values, named and nested as the API has them.

Source: ``policy.karmada.io`` v1alpha1, in the form that it has after defaulting (see admission).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import IntEnum
from typing import Any

import attrs

from fleet_components.model.cluster import Cluster, Taint
from fleet_components.model.codec import decode
from fleet_components.model.manifest import Manifest
from fleet_components.model.selector import Labels, LabelSelector, Requirement
from fleet_components.model.typed import Typed

PROPAGATION, CLUSTER_PROPAGATION = "PropagationPolicy", "ClusterPropagationPolicy"
OVERRIDE, CLUSTER_OVERRIDE = "OverridePolicy", "ClusterOverridePolicy"
DUPLICATED, DIVIDED = "Duplicated", "Divided"
WEIGHTED, AGGREGATED = "Weighted", "Aggregated"
GRACEFULLY, DIRECTLY, NEVER = "Gracefully", "Directly", "Never"
_ZONE = "zone"


class Rank(IntEnum):
    """How precisely a selector matches an object: Karmada's implicit priority."""

    NO_MATCH = 0
    ALL = 1
    LABEL = 2
    NAME = 3


@attrs.frozen
class ResourceSelector(Typed):
    """Selects objects of one kind, by name, by labels, or all of them. With a name, labels are not looked at."""

    api_version: str
    kind: str
    namespace: str = ""
    name: str = ""
    label_selector: LabelSelector | None = None

    def rank(self, manifest: Manifest) -> Rank:
        """How precisely it matches the object."""
        if (self.api_version, self.kind) != (manifest.api_version, manifest.kind):
            return Rank.NO_MATCH
        if self.namespace and self.namespace != manifest.namespace:
            return Rank.NO_MATCH
        if self.name:
            return Rank.NAME if self.name == manifest.name else Rank.NO_MATCH
        if self.label_selector is None:
            return Rank.ALL
        return Rank.LABEL if _meets(self.label_selector.requirements(), manifest.labels) else Rank.NO_MATCH


def best_rank(selectors: Iterable[ResourceSelector], manifest: Manifest) -> Rank:
    """The best rank of the object among the selectors."""
    return max((selector.rank(manifest) for selector in selectors), default=Rank.NO_MATCH)


@attrs.frozen
class FieldSelector(Typed):
    """Selects members by ``provider``, ``region`` and ``zone``."""

    match_expressions: tuple[Requirement, ...] = ()

    def matches(self, cluster: Cluster) -> bool:
        """Whether the member meets all expressions; provider and region are as labels, absent when empty."""
        zones = [asked for asked in self.match_expressions if asked.key == _ZONE]
        others = [asked for asked in self.match_expressions if asked.key != _ZONE]
        fields = {"provider": cluster.provider, "region": cluster.region}
        labels = {field: value for field, value in fields.items() if value}
        return all(_zones_meet(asked, cluster.zones) for asked in zones) and _meets(others, labels)


@attrs.frozen(kw_only=True)
class ClusterAffinity(Typed):
    """Selects members. What is given must all hold; ``exclude`` beats everything."""

    label_selector: LabelSelector | None = None
    field_selector: FieldSelector | None = None
    cluster_names: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()

    def matches(self, cluster: Cluster) -> bool:
        """Whether it selects the member. An invalid selector matches nothing, without an error."""
        if cluster.name in self.exclude or (self.cluster_names and cluster.name not in self.cluster_names):
            return False
        if self.label_selector and not _meets(self.label_selector.requirements(), cluster.labels):
            return False
        return self.field_selector is None or self.field_selector.matches(cluster)


@attrs.frozen(kw_only=True)
class OverflowAffinity(ClusterAffinity):
    """Members that a group takes in addition when its own are full."""

    affinity_name: str


@attrs.frozen(kw_only=True)
class ClusterAffinityTerm(ClusterAffinity):
    """A named group of members, tried in the order of the groups."""

    affinity_name: str
    overflow_affinities: tuple[OverflowAffinity, ...] = ()


@attrs.frozen
class Toleration(Typed):
    """Tolerates taints.

    Attributes:
        key: the taint's key; empty for all.
        operator: ``Equal`` (also when empty) or ``Exists``.
        value: the taint's value, for ``Equal``.
        effect: the taint's effect; empty for all.
        toleration_seconds: how long a ``NoExecute`` taint is tolerated; None for ever.
    """

    key: str = ""
    operator: str = ""
    value: str = ""
    effect: str = ""
    toleration_seconds: int | None = None

    def tolerates(self, taint: Taint) -> bool:
        """Whether it tolerates the taint, however long."""
        if self.effect not in ("", taint.effect) or self.key not in ("", taint.key):
            return False
        return self.operator == "Exists" or (self.operator in ("", "Equal") and self.value == taint.value)


@attrs.frozen
class SpreadConstraint(Typed):
    """Bounds for the number of groups; 0 groups at most is taken literally."""

    spread_by_field: str = ""
    spread_by_label: str = ""
    max_groups: int = 0
    min_groups: int = 0


@attrs.frozen
class StaticWeight(Typed):
    """The weight of the members that it selects."""

    target_cluster: ClusterAffinity
    weight: int


@attrs.frozen
class WeightPreference(Typed):
    """Weights; ``dynamic_weight`` (AvailableReplicas) wins over the static list."""

    static_weight_list: tuple[StaticWeight, ...] = ()
    dynamic_weight: str = ""


@attrs.frozen
class ReplicaScheduling(Typed):
    """How replicas are given to the members: Duplicated, or Divided by Weighted or Aggregated preference."""

    replica_scheduling_type: str = DIVIDED
    replica_division_preference: str = ""
    weight_preference: WeightPreference | None = None


@attrs.frozen
class Placement(Typed):
    """Which members, and how many replicas on each."""

    cluster_affinity: ClusterAffinity | None = None
    cluster_affinities: tuple[ClusterAffinityTerm, ...] = ()
    cluster_tolerations: tuple[Toleration, ...] = ()
    spread_constraints: tuple[SpreadConstraint, ...] = ()
    replica_scheduling: ReplicaScheduling | None = None

    @property
    def divided(self) -> bool:
        """Replicas are divided; without ``replicaScheduling`` they are duplicated."""
        return self.replica_scheduling is not None and self.replica_scheduling.replica_scheduling_type == DIVIDED


@attrs.frozen
class DecisionConditions(Typed):
    """When an application counts as failed: unhealthy for longer than this."""

    toleration_seconds: int = 300


@attrs.frozen
class ApplicationFailover(Typed):
    """What happens when an application fails on a member."""

    decision_conditions: DecisionConditions = DecisionConditions()
    purge_mode: str = GRACEFULLY
    grace_period_seconds: int | None = None


@attrs.frozen
class ClusterFailover(Typed):
    """What happens when a member fails."""

    purge_mode: str = GRACEFULLY


@attrs.frozen
class Failover(Typed):
    """Failover of applications and of members."""

    application: ApplicationFailover | None = None
    cluster: ClusterFailover | None = None


@attrs.frozen
class SuspendClusters(Typed):
    """The members on which dispatching is suspended."""

    cluster_names: tuple[str, ...] = ()


@attrs.frozen
class Suspension(Typed):
    """Dispatching is suspended on all members, or on some."""

    dispatching: bool = False
    dispatching_on_clusters: SuspendClusters = SuspendClusters()

    def suspends(self, cluster: str) -> bool:
        """Whether changes are kept from this member."""
        return self.dispatching or cluster in self.dispatching_on_clusters.cluster_names


@attrs.frozen
class PropagationSpec(Typed):
    """The spec of a propagation policy."""

    resource_selectors: tuple[ResourceSelector, ...] = ()
    propagate_deps: bool = False
    placement: Placement = Placement()
    priority: int = 0
    preemption: str = NEVER
    dependent_overrides: tuple[str, ...] = ()
    failover: Failover | None = None
    activation_preference: str = ""
    suspension: Suspension = Suspension()


@attrs.frozen(order=True)
class PolicyKey:
    """What tells two policies apart. ``namespace`` is empty for the cluster-wide kinds."""

    kind: str
    namespace: str
    name: str

    def __str__(self) -> str:
        return f"{self.namespace}/{self.name}" if self.namespace else self.name


@attrs.frozen
class PropagationPolicy(Typed):
    """A PropagationPolicy or a ClusterPropagationPolicy.

    Attributes:
        key: its kind, namespace and name.
        spec: what it says.
        manifest: the whole object.
    """

    key: PolicyKey
    spec: PropagationSpec
    manifest: Manifest = attrs.field(repr=False)

    @classmethod
    def from_manifest(cls, manifest: Manifest) -> PropagationPolicy:
        """Read a policy that admission has passed."""
        return cls(policy_key(manifest), decode(PropagationSpec, manifest.data["spec"]), manifest)

    @property
    def data(self) -> Mapping[str, Any]:
        """The spec in its API form."""
        spec: Mapping[str, Any] = self.manifest.data["spec"]
        return spec

    @property
    def lazy(self) -> bool:
        """Its changes wait until the object itself changes."""
        return self.spec.activation_preference == "Lazy"


def policy_key(manifest: Manifest) -> PolicyKey:
    """The key of a policy's manifest."""
    cluster_wide = manifest.kind in (CLUSTER_PROPAGATION, CLUSTER_OVERRIDE)
    return PolicyKey(manifest.kind, "" if cluster_wide else manifest.namespace or "default", manifest.name)


def _zones_meet(asked: Requirement, zones: tuple[str, ...]) -> bool:
    match asked.operator:
        case "In":
            return not set(zones).isdisjoint(asked.values)
        case "NotIn":
            return set(zones).isdisjoint(asked.values)
        case "Exists":
            return bool(zones)
        case "DoesNotExist":
            return not zones
    return False


def _meets(requirements: Iterable[Requirement], labels: Labels) -> bool:
    """Whether the labels meet all requirements; one that is invalid makes the selector match nothing."""
    asked = tuple(requirements)
    return all(requirement.valid for requirement in asked) and all(requirement.matches(labels) for requirement in asked)
