"""KubeFleet placements as typed values, with the names and nesting of the API.

Source: ``ClusterResourcePlacement`` and ``ResourcePlacement`` of ``placement.kubernetes-fleet.io``
v1 and v1beta1.
"""

from __future__ import annotations

from collections.abc import Iterator

import attrs

from fleet_components.model.codec import decode
from fleet_components.model.manifest import Manifest, Origin
from fleet_components.model.message import Message
from fleet_components.model.problem import Problem
from fleet_components.model.selector import LabelSelector
from fleet_components.model.text import nearest
from fleet_components.model.typed import Typed

GROUP = "placement.kubernetes-fleet.io"
PLACEMENTS = ("ClusterResourcePlacement", "ResourcePlacement")
PICK_ALL, PICK_FIXED, PICK_N = "PickAll", "PickFixed", "PickN"


@attrs.frozen
class PropertyRequirement(Typed):
    """One property expression. ``operator`` is Gt, Ge, Lt, Le, Eq or Ne; ``values`` has exactly one
    value.
    """

    name: str
    operator: str
    values: tuple[str, ...]


@attrs.frozen
class PropertySelector(Typed):
    """Property expressions that must all hold."""

    match_expressions: tuple[PropertyRequirement, ...] = ()


@attrs.frozen
class PropertySorter(Typed):
    """Ranks members by a property. ``sort_order`` is Ascending (less is better) or Descending (more
    is better).
    """

    name: str
    sort_order: str = "Descending"


@attrs.frozen
class ClusterSelectorTerm(Typed):
    """A required term: both the label selector and the property selector must match."""

    label_selector: LabelSelector | None = None
    property_selector: PropertySelector | None = None


@attrs.frozen
class ClusterSelector(Typed):
    """Required terms, of which at least one must match. Without terms, every member matches."""

    cluster_selector_terms: tuple[ClusterSelectorTerm, ...] = ()


@attrs.frozen
class Preference(Typed):
    """The label selector or property sorter of a preferred term."""

    label_selector: LabelSelector | None = None
    property_sorter: PropertySorter | None = None


@attrs.frozen
class PreferredClusterSelector(Typed):
    """A preferred term. ``weight`` is -100 to 100."""

    weight: int
    preference: Preference = Preference()


@attrs.frozen
class ClusterAffinity(Typed):
    """Required and preferred terms."""

    required_during_scheduling_ignored_during_execution: ClusterSelector | None = None
    preferred_during_scheduling_ignored_during_execution: tuple[PreferredClusterSelector, ...] = ()


@attrs.frozen
class Affinity(Typed):
    """The affinity of a policy."""

    cluster_affinity: ClusterAffinity | None = None


@attrs.frozen
class TopologySpreadConstraint(Typed):
    """Spreads the picked members over the values of a label."""

    topology_key: str
    max_skew: int = 1
    when_unsatisfiable: str = "DoNotSchedule"


@attrs.frozen
class Toleration(Typed):
    """A toleration of taints. ``operator`` is Equal or Exists; an empty ``effect`` matches all
    effects.
    """

    key: str = ""
    operator: str = "Equal"
    value: str = ""
    effect: str = ""


@attrs.frozen
class PlacementPolicy(Typed):
    """The policy of a placement: which members it picks."""

    placement_type: str = PICK_ALL
    cluster_names: tuple[str, ...] = ()
    number_of_clusters: int | None = None
    affinity: Affinity | None = None
    topology_spread_constraints: tuple[TopologySpreadConstraint, ...] = ()
    tolerations: tuple[Toleration, ...] = ()

    def wrong_values(self) -> Iterator[Problem]:
        """Yield a problem for an unknown placement type, and for a number of clusters that is
        missing or negative.
        """
        if self.placement_type not in (PICK_ALL, PICK_FIXED, PICK_N):
            hint = (
                nearest(self.placement_type, (PICK_ALL, PICK_FIXED, PICK_N))
                or f"{PICK_ALL}, {PICK_FIXED}, {PICK_N}"
            )
            yield Problem(
                Message(
                    "no-type",
                    'there is no type "{placement_type}"',
                    placement_type=self.placement_type,
                ),
                ("placement_type",),
                hint,
            )
        if self.placement_type == PICK_N and self.number_of_clusters is None:
            yield Problem(
                Message("is-missing", "is missing"),
                ("number_of_clusters",),
                "say how many members to pick",
            )
        if (self.number_of_clusters or 0) < 0:
            yield Problem(
                Message(
                    "number-of-clusters-negative",
                    "is {number_of_clusters}",
                    number_of_clusters=self.number_of_clusters,
                ),
                ("number_of_clusters",),
                "0 or more",
            )

    @property
    def required_terms(self) -> tuple[ClusterSelectorTerm, ...]:
        """The required affinity terms; empty if there are none."""
        affinity = self.affinity.cluster_affinity if self.affinity else None
        required = (
            affinity.required_during_scheduling_ignored_during_execution if affinity else None
        )
        return required.cluster_selector_terms if required else ()

    @property
    def preferred_terms(self) -> tuple[PreferredClusterSelector, ...]:
        """The preferred affinity terms; empty if there are none."""
        affinity = self.affinity.cluster_affinity if self.affinity else None
        return affinity.preferred_during_scheduling_ignored_during_execution if affinity else ()


@attrs.frozen
class ResourceSelector(Typed):
    """Selects objects of one kind: by name, by labels, or all of them.

    ``selection_scope`` applies to namespaces only: NamespaceWithResources, NamespaceOnly or
    NamespaceWithResourceSelectors.
    """

    version: str
    kind: str
    group: str = ""
    name: str = ""
    label_selector: LabelSelector | None = None
    selection_scope: str = "NamespaceWithResources"


@attrs.frozen
class RollingUpdate(Typed):
    """Limits on the number of members that change at the same time.

    ``max_unavailable`` and ``max_surge`` are numbers, or percentages of the wanted number of
    members, rounded up. ``unavailable_period_seconds`` is how long content whose availability
    cannot be tracked counts as unavailable.
    """

    max_unavailable: int | str = "25%"
    max_surge: int | str = "25%"
    unavailable_period_seconds: int = 60


@attrs.frozen
class ServerSideApplyConfig:
    """With ``force``, fields that others have set are overwritten; else they are conflicts."""

    force: bool = False


@attrs.frozen
class ApplyStrategy:
    """Treatment of objects on members.

    Attributes:
        type: ClientSideApply, ServerSideApply or ReportDiff, which writes nothing.
        comparison_option: PartialComparison (the fields that are sent) or FullComparison.
        when_to_apply: Always, or IfNotDrifted: what somebody has changed on a member is left alone.
        when_to_take_over: Always, IfNoDiff or Never: what to do with objects that are on a member
            already.
        allow_co_ownership: True to write objects that have other owners.
        server_side_apply_config: settings of ServerSideApply.
    """

    type: str = "ClientSideApply"
    comparison_option: str = "PartialComparison"
    when_to_apply: str = "Always"
    when_to_take_over: str = "Always"
    allow_co_ownership: bool = False
    server_side_apply_config: ServerSideApplyConfig | None = None


@attrs.frozen
class DeleteStrategy:
    """Fate of the objects of a placement that goes: ``propagation_policy`` is Delete or Abandon."""

    propagation_policy: str = "Delete"


@attrs.frozen
class PlacementStrategy:
    """Rollout strategy. ``type`` is RollingUpdate or External (staged update runs)."""

    type: str = "RollingUpdate"
    rolling_update: RollingUpdate = RollingUpdate()
    apply_strategy: ApplyStrategy = ApplyStrategy()
    delete_strategy: DeleteStrategy = DeleteStrategy()


@attrs.frozen
class PlacementSpec:
    """The spec of a placement. ``revision_history_limit`` is how many of its newest revisions are
    kept.
    """

    resource_selectors: tuple[ResourceSelector, ...] = ()
    policy: PlacementPolicy | None = None
    strategy: PlacementStrategy = PlacementStrategy()
    revision_history_limit: int = 10
    status_reporting_scope: str = "ClusterScopeOnly"

    @property
    def reports_in(self) -> str:
        """The namespace in which the status can be read too; empty if there is none."""
        if self.status_reporting_scope != "NamespaceAccessible":
            return ""
        # Admission lets exactly one selector of a namespace pass here.
        return next(
            (
                selector.name
                for selector in self.resource_selectors
                if (selector.group, selector.kind) == ("", "Namespace")
            ),
            "",
        )


@attrs.frozen
class Placement:
    """A ClusterResourcePlacement or a ResourcePlacement.

    Attributes:
        name: ``metadata.name``.
        spec: the spec; a missing policy means PickAll.
        namespace: namespace of a ResourcePlacement; empty for a ClusterResourcePlacement.
        origin: where it was read from.
    """

    name: str
    spec: PlacementSpec
    namespace: str = ""
    origin: Origin | None = attrs.field(default=None, eq=False)

    @classmethod
    def from_manifest(cls, manifest: Manifest) -> Placement:
        """Read a placement that has passed admission."""
        spec = decode(PlacementSpec, manifest.data["spec"])
        namespace = manifest.namespace if manifest.kind == "ResourcePlacement" else ""
        return cls(manifest.name, spec, namespace, manifest.origin)

    @property
    def kind(self) -> str:
        """``ResourcePlacement`` or ``ClusterResourcePlacement``."""
        return "ResourcePlacement" if self.namespace else "ClusterResourcePlacement"

    @property
    def key(self) -> str:
        """``namespace/name``, or the name alone for a ClusterResourcePlacement."""
        return f"{self.namespace}/{self.name}" if self.namespace else self.name
