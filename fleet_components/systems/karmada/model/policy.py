"""Karmada policies as typed values, with the names and nesting of the API.

Source: ``policy.karmada.io`` v1alpha1, in the form after defaulting, which admission applies.
"""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping
from enum import IntEnum
from functools import cached_property
from typing import Any

import attrs

from fleet_components.model.cluster import Cluster, Taint
from fleet_components.model.codec import decode
from fleet_components.model.manifest import Manifest
from fleet_components.model.selector import Labels, LabelSelector, Requirement
from fleet_components.model.typed import Typed

POLICY_GROUP = "policy.karmada.io"
PROPAGATION, CLUSTER_PROPAGATION = "PropagationPolicy", "ClusterPropagationPolicy"
OVERRIDE, CLUSTER_OVERRIDE = "OverridePolicy", "ClusterOverridePolicy"
DIVIDED = "Divided"
WEIGHTED, AGGREGATED = "Weighted", "Aggregated"
GRACEFULLY, DIRECTLY, NEVER = "Gracefully", "Directly", "Never"
_ZONE = "zone"


class Rank(IntEnum):
    """Precision with which a selector matches an object: Karmada's implicit priority.

    Source: ``ResourceSelectorPriority`` in ``pkg/util/selector.go`` of Karmada 1.19.
    """

    NO_MATCH = 0
    ALL = 1
    LABEL = 2
    NAME = 3


@attrs.frozen
class ResourceSelector(Typed):
    """Selects objects of one kind: by name, by labels, or all of them. If a name is given, labels
    are ignored.
    """

    api_version: str
    kind: str
    namespace: str = ""
    name: str = ""
    label_selector: LabelSelector | None = None

    def rank(self, manifest: Manifest) -> Rank:
        """Return the precision with which the selector matches the object."""
        if (self.api_version, self.kind) != (manifest.api_version, manifest.kind):
            return Rank.NO_MATCH
        if self.namespace and self.namespace != manifest.namespace:
            return Rank.NO_MATCH
        if self.name:
            return Rank.NAME if self.name == manifest.name else Rank.NO_MATCH
        if self.label_selector is None:
            return Rank.ALL
        return (
            Rank.LABEL
            if _meets(self.label_selector.requirements(), manifest.labels)
            else Rank.NO_MATCH
        )

    @property
    def asked(self) -> str | tuple[str, str] | None:
        """One thing that an object needs to be selected: a name, else a label as a pair; None for
        nothing.
        """
        if self.name:
            return self.name
        return (
            next(iter(self.label_selector.match_labels.items()), None)
            if self.label_selector
            else None
        )


def answers(manifest: Manifest) -> tuple[str | tuple[str, str] | None, ...]:
    """Return all that selectors may require, each in the form of :attr:`ResourceSelector.asked`."""
    return (manifest.name, None, *manifest.labels.items())


@attrs.frozen(eq=False, slots=False)
class Selectors:
    """The resource selectors of a policy, by what they require of an object."""

    selectors: tuple[ResourceSelector, ...]

    def rank(self, manifest: Manifest) -> Rank:
        """Return the highest rank that any of the selectors gives the object."""
        keys = ((manifest.api_version, manifest.kind, asked) for asked in answers(manifest))
        found = (selector.rank(manifest) for key in keys for selector in self._asking.get(key, ()))
        return max(found, default=Rank.NO_MATCH)

    @cached_property
    def _asking(self) -> dict[Hashable, list[ResourceSelector]]:
        found: dict[Hashable, list[ResourceSelector]] = defaultdict(list)
        for selector in self.selectors:
            # Under one requirement only: an object has to meet all of them, so it meets this one
            # too.
            found[selector.api_version, selector.kind, selector.asked].append(selector)
        return dict(found)


@attrs.frozen
class FieldSelector(Typed):
    """Selects members by ``provider``, ``region`` and ``zone``."""

    match_expressions: tuple[Requirement, ...] = ()

    def matches(self, cluster: Cluster) -> bool:
        """Return whether the member meets all expressions.

        Provider and region are matched like labels, which are absent if empty; a zone expression is
        matched against all zones of the member.
        """
        zones = [asked for asked in self.match_expressions if asked.key == _ZONE]
        others = [asked for asked in self.match_expressions if asked.key != _ZONE]
        fields = {"provider": cluster.provider, "region": cluster.region}
        labels = {field: value for field, value in fields.items() if value}
        return all(_zones_meet(asked, cluster) for asked in zones) and _meets(others, labels)


@attrs.frozen(kw_only=True)
class ClusterAffinity(Typed):
    """Selects members. All given parts must match; ``exclude`` overrides everything else."""

    label_selector: LabelSelector | None = None
    field_selector: FieldSelector | None = None
    cluster_names: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()

    def matches(self, cluster: Cluster) -> bool:
        """Return whether the affinity selects the member. An invalid selector matches nothing and
        raises no error.
        """
        if cluster.name in self.exclude or (
            self.cluster_names and cluster.name not in self.cluster_names
        ):
            return False
        if self.label_selector and not _meets(self.label_selector.requirements(), cluster.labels):
            return False
        return self.field_selector is None or self.field_selector.matches(cluster)


@attrs.frozen(kw_only=True)
class OverflowAffinity(ClusterAffinity):
    """Members that an affinity group takes in addition when its own members are full."""

    affinity_name: str


@attrs.frozen(kw_only=True)
class ClusterAffinityTerm(ClusterAffinity):
    """A named affinity group. Groups are tried in the order of the list."""

    affinity_name: str
    overflow_affinities: tuple[OverflowAffinity, ...] = ()


@attrs.frozen
class Toleration(Typed):
    """A toleration of taints.

    Attributes:
        key: the taint's key; empty matches all keys.
        operator: ``Equal`` (also if empty) or ``Exists``.
        value: the taint's value, for ``Equal``.
        effect: the taint's effect; empty matches all effects.
        toleration_seconds: how long a ``NoExecute`` taint is tolerated, in seconds; None means
            without limit.
    """

    key: str = ""
    operator: str = ""
    value: str = ""
    effect: str = ""
    toleration_seconds: int | None = None

    def tolerates(self, taint: Taint) -> bool:
        """Return whether the toleration matches the taint. ``toleration_seconds`` is not
        considered.
        """
        if self.effect not in ("", taint.effect) or self.key not in ("", taint.key):
            return False
        # As in Kubernetes and unlike in KubeFleet: no operator is Equal, and no key is every key
        # even with Equal.
        return self.operator == "Exists" or (
            self.operator in ("", "Equal") and self.value == taint.value
        )


@attrs.frozen(eq=False, slots=False)
class Tolerations:
    """Tolerations in their order, by what they require of a taint."""

    tolerations: tuple[Toleration, ...]

    def of(self, taint: Taint) -> list[Toleration]:
        """Return the tolerations that match a taint."""
        # An empty key stands for all keys, None for the operator Exists, which ignores the value.
        keys = ((key, value) for key in {taint.key, ""} for value in (taint.value, None))
        positions = sorted(position for key in keys for position in self._asking.get(key, ()))
        found = (self.tolerations[position] for position in positions)
        return [toleration for toleration in found if toleration.tolerates(taint)]

    @cached_property
    def _asking(self) -> dict[tuple[str, str | None], list[int]]:
        found: dict[tuple[str, str | None], list[int]] = defaultdict(list)
        for position, toleration in enumerate(self.tolerations):
            found[
                toleration.key, None if toleration.operator == "Exists" else toleration.value
            ].append(position)
        return dict(found)


@attrs.frozen
class SpreadConstraint(Typed):
    """Bounds on the number of groups, by field or by label. ``max_groups`` 0 means 0 groups, as in
    Karmada.
    """

    spread_by_field: str = ""
    spread_by_label: str = ""
    max_groups: int = 0
    min_groups: int = 0


@attrs.frozen
class StaticWeight(Typed):
    """A weight for the members that an affinity selects."""

    target_cluster: ClusterAffinity
    weight: int


@attrs.frozen
class WeightPreference(Typed):
    """Weights of members. ``dynamic_weight`` (``AvailableReplicas``) overrides the static list."""

    static_weight_list: tuple[StaticWeight, ...] = ()
    dynamic_weight: str = ""


@attrs.frozen
class ReplicaScheduling(Typed):
    """Assignment of replicas: ``Duplicated``, or ``Divided`` with preference ``Weighted`` or
    ``Aggregated``.
    """

    replica_scheduling_type: str = DIVIDED
    replica_division_preference: str = ""
    weight_preference: WeightPreference | None = None


@attrs.frozen
class Placement(Typed):
    """The ``placement`` of a policy: which members are selected, and how replicas are assigned to
    them.
    """

    cluster_affinity: ClusterAffinity | None = None
    cluster_affinities: tuple[ClusterAffinityTerm, ...] = ()
    cluster_tolerations: tuple[Toleration, ...] = ()
    spread_constraints: tuple[SpreadConstraint, ...] = ()
    replica_scheduling: ReplicaScheduling | None = None

    @cached_property
    def tolerations(self) -> Tolerations:
        """The tolerations by what they require of a taint."""
        return Tolerations(self.cluster_tolerations)

    @property
    def divided(self) -> bool:
        """True if replicas are divided. Without ``replicaScheduling`` they are duplicated."""
        return (
            self.replica_scheduling is not None
            and self.replica_scheduling.replica_scheduling_type == DIVIDED
        )


@attrs.frozen
class DecisionConditions(Typed):
    """Condition under which an application counts as failed: unhealthy for longer than
    ``toleration_seconds``.
    """

    toleration_seconds: int = 300


def purge_mode_of(written: str) -> str:
    """Return a purge mode by its name of 1.19; earlier releases have two further names."""
    renamed = {"Immediately": DIRECTLY, "Graciously": GRACEFULLY}
    return renamed.get(written, written) if isinstance(written, str) else written


@attrs.frozen
class ApplicationFailover(Typed):
    """Failover of an application that fails on a member. Times are in seconds."""

    decision_conditions: DecisionConditions = DecisionConditions()
    purge_mode: str = attrs.field(default=GRACEFULLY, converter=purge_mode_of)
    grace_period_seconds: int | None = None


@attrs.frozen
class ClusterFailover(Typed):
    """Failover of the objects on a member that fails."""

    purge_mode: str = attrs.field(default=GRACEFULLY, converter=purge_mode_of)


@attrs.frozen
class Failover(Typed):
    """Failover settings for applications and for members."""

    application: ApplicationFailover | None = None
    cluster: ClusterFailover | None = None


@attrs.frozen
class SuspendClusters(Typed):
    """The members for which dispatching is suspended."""

    cluster_names: tuple[str, ...] = ()


@attrs.frozen
class Suspension(Typed):
    """Suspension of dispatching: for all members, or for some."""

    dispatching: bool = False
    dispatching_on_clusters: SuspendClusters = SuspendClusters()

    def suspends(self, cluster: str) -> bool:
        """Return whether dispatching to this member is suspended."""
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

    def rank(self, manifest: Manifest) -> Rank:
        """Return the precision with which the policy matches the object."""
        return self._selectors.rank(manifest)

    @cached_property
    def _selectors(self) -> Selectors:
        return Selectors(self.resource_selectors)


@attrs.frozen(order=True)
class PolicyKey:
    """Identity of a policy. ``namespace`` is empty for the cluster-wide kinds."""

    kind: str
    namespace: str
    name: str

    def __str__(self) -> str:
        return f"{self.namespace}/{self.name}" if self.namespace else self.name

    @property
    def path(self) -> str:
        """``kind/namespace/name``: the key of what is remembered of it."""
        return f"{self.kind}/{self.namespace}/{self.name}"


def is_policy_path(path: str) -> bool:
    """Return whether a text of a state is the :attr:`~PolicyKey.path` of a propagation policy."""
    kind, _, rest = path.partition("/")
    namespace, slash, name = rest.partition("/")
    # An unknown kind has None, which is neither of the two booleans below.
    namespaced = {PROPAGATION: True, CLUSTER_PROPAGATION: False}.get(kind)
    return bool(namespaced is bool(namespace) and slash and name and "/" not in name)


@attrs.frozen
class PropagationPolicy(Typed):
    """A PropagationPolicy or a ClusterPropagationPolicy.

    Attributes:
        key: its kind, namespace and name.
        spec: its spec, typed.
        manifest: the whole object.
    """

    key: PolicyKey
    spec: PropagationSpec
    manifest: Manifest = attrs.field(repr=False)

    @classmethod
    def from_manifest(cls, manifest: Manifest) -> PropagationPolicy:
        """Read a policy that has passed admission."""
        return cls(policy_key(manifest), decode(PropagationSpec, manifest.data["spec"]), manifest)

    @property
    def data(self) -> Mapping[str, Any]:
        """The spec in API form."""
        spec: Mapping[str, Any] = self.manifest.data["spec"]
        return spec

    @cached_property
    def digest(self) -> str:
        """A digest of the spec."""
        return hashlib.sha256(json.dumps(self.data, sort_keys=True).encode()).hexdigest()[:16]

    @property
    def lazy(self) -> bool:
        """True if changes of the policy take effect only when the object changes (activation
        preference ``Lazy``).
        """
        return self.spec.activation_preference == "Lazy"


def policy_key(manifest: Manifest) -> PolicyKey:
    """Return the key of a policy's manifest."""
    cluster_wide = manifest.kind in (CLUSTER_PROPAGATION, CLUSTER_OVERRIDE)
    # An object without a namespace goes to the namespace default, as with kubectl.
    return PolicyKey(
        manifest.kind, "" if cluster_wide else manifest.namespace or "default", manifest.name
    )


def _zones_meet(asked: Requirement, cluster: Cluster) -> bool:
    zones = cluster.zones
    match asked.operator:
        # Releases before 1.18 have this rule (`Rule.ANY_ZONE`).
        case "In" if cluster.in_all_zones:
            return bool(zones) and set(zones).issubset(asked.values)
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
    """Return whether the labels meet all requirements. One invalid requirement makes the selector
    match nothing.
    """
    return all(requirement.met_by(labels) for requirement in requirements)
