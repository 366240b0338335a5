"""A fleet read from genuine YAML: members, placements, and the objects that they select."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

import attrs

from fleet_components.admission import admit
from fleet_components.content.availability import trackable
from fleet_components.content.catalogue import Catalogue
from fleet_components.content.envelope import is_envelope, unwrap
from fleet_components.content.load import load
from fleet_components.content.select import Selection, select
from fleet_components.model.application_health import ApplicationHealth, read_health
from fleet_components.model.azure.member_list import declared_clusters
from fleet_components.model.azure.unobserved import unobserved
from fleet_components.model.cluster import Cluster
from fleet_components.model.karmada import CLUSTER_OVERRIDE, CLUSTER_PROPAGATION, OVERRIDE, PROPAGATION
from fleet_components.model.karmada_cluster import read_karmada_cluster
from fleet_components.model.karmada_settings import KarmadaSettings, read_settings
from fleet_components.model.manifest import Manifest
from fleet_components.model.member_cluster import read_member_cluster
from fleet_components.model.placement import Placement, RollingUpdate
from fleet_components.model.problem import FleetError, Problem
from fleet_components.model.text import count
from fleet_components.plan.effects import unheeded
from fleet_components.plan.karmada.member import serving_both
from fleet_components.plan.kubefleet.runs import STRATEGY_OF, idle_runs, run_of
from fleet_components.plan.record import Objects
from fleet_components.plan.status import misread, unread
from fleet_components.rollout.read import read_update_run
from fleet_components.rollout.strategy import External, UpdateRun

A = TypeVar("A")
T = TypeVar("T")
_PLACEMENTS = ("ClusterResourcePlacement", "ResourcePlacement")
_KARMADA = (PROPAGATION, CLUSTER_PROPAGATION, OVERRIDE, CLUSTER_OVERRIDE)
_APIS = {
    **dict.fromkeys((*_PLACEMENTS, *STRATEGY_OF, *STRATEGY_OF.values()), "placement.kubernetes-fleet.io/v1beta1"),
    "MemberCluster": "cluster.kubernetes-fleet.io/v1",
    **dict.fromkeys(_KARMADA, "policy.karmada.io/v1alpha1"),
}
"""Where the kinds that steer a fleet are served; none of them may hide among the objects to place."""
_CARRIED_OUT = {*_PLACEMENTS, *STRATEGY_OF, *STRATEGY_OF.values(), *_KARMADA, "WorkloadRebalancer"}
_INSTEAD = {
    "ResourceInterpreterCustomization": "say where the kind has its replicas: spec.workloads of a KarmadaSettings",
}
_MADE_BY_A_HUB = ("Snapshot", "Binding", "Work", "AppliedWork", "InternalMemberCluster", "Status", "ApprovalRequest")


@attrs.frozen
class Workload:
    """A placement with what it selects.

    Attributes:
        placement: the placement.
        strategy: how it rolls out.
        selection: what its selectors bring, for explanations.
        objects: the objects, as they go to the members.
        untrackable: some of them are of kinds whose readiness cannot be told.
    """

    placement: Placement
    strategy: RollingUpdate | External
    selection: Selection
    objects: Objects
    untrackable: bool

    @property
    def name(self) -> str:
        """Its name in a stack."""
        return self.placement.key


@attrs.frozen
class Source:
    """What was read.

    Attributes:
        clusters: the members.
        placements: the placements, by key.
        catalogue: the objects that can be placed.
        policies: every object that steers a hub, defaulted.
        settings: how the Karmada control plane would be set up.
        health: the applications that were seen to be Unhealthy.
        declarations: the members as they are written, by name.
        warnings: what is taken as it is, and most likely not meant.
    """

    clusters: tuple[Cluster, ...]
    placements: tuple[Placement, ...]
    catalogue: Catalogue
    policies: tuple[Manifest, ...]
    settings: KarmadaSettings = KarmadaSettings()
    health: tuple[ApplicationHealth, ...] = ()
    declarations: Mapping[str, Manifest] = attrs.field(factory=dict)
    warnings: tuple[Problem, ...] = ()

    def policy(self, kind: str, namespace: str, name: str) -> Manifest:
        """One of the policies, as it is written."""
        return next(p for p in self.policies if (p.kind, p.namespace, p.name) == (kind, namespace, name))

    def workloads(self) -> tuple[tuple[Workload, ...], list[Problem]]:
        """Every placement with what it selects, and why others have none.

        A selection may be refused, or a strategy that an update run names may be missing.
        """
        problems: list[Problem] = []
        found = [_collected(problems, self._workload, placement) for placement in self.placements]
        return tuple(workload for workload in found if workload), problems

    def _workload(self, placement: Placement) -> Workload:
        selection = select(self.catalogue, placement)
        manifests = [m for s in selection.manifests for m in (unwrap(s) if is_envelope(s) else (s,))]
        untrackable = any(trackable(manifest) == "untrackable" for manifest in manifests)
        objects = tuple(manifest.data for manifest in manifests)
        return Workload(placement, self._strategy(placement), selection, objects, untrackable)

    def _strategy(self, placement: Placement) -> RollingUpdate | External:
        strategy = placement.spec.strategy
        return External(self._run(placement)) if strategy.type == "External" else strategy.rolling_update

    def _run(self, placement: Placement) -> UpdateRun | None:
        run = run_of(self.policies, placement.namespace, placement.name)
        if run is None:
            return None
        wanted = run.data["spec"].get("stagedRolloutStrategyName", "")
        strategies = [m for m in self.policies if m.kind == STRATEGY_OF[run.kind] and m.namespace == run.namespace]
        strategy = next((m for m in strategies if m.name == wanted), None)
        if strategy is None:
            known = ", ".join(m.name for m in strategies) or "none"
            path = ("spec", "stagedRolloutStrategyName")
            what = f'there is no {STRATEGY_OF[run.kind]} "{wanted}"'
            raise FleetError([run.problem(what, path, f"there is: {known}")])
        return read_update_run(run, strategy)


def read_source(*paths: str | Path) -> Source:
    """Read a fleet from files and directories of YAML.

    Raises:
        FleetError: anything that cannot be read, or that the real API servers would refuse; all problems at once.
    """
    return source_of(load(*paths))


def source_of(manifests: Iterable[Manifest]) -> Source:
    """A fleet of objects that were read or made before.

    Raises:
        FleetError: as for :func:`read_source`.
    """
    parts = Catalogue.of(manifests).split()
    problems: list[Problem] = []
    context = (*parts.members, *parts.policies, *parts.objects.manifests)
    declarations = _admitted(parts.members, context, problems)
    policies = _admitted([p for p in parts.policies if not _made_by_a_hub(p)], context, problems)
    envelopes = [m for m in parts.objects.manifests if is_envelope(m)]
    _admitted(envelopes, context, problems)
    problems += [_not_carried_out(policy) for policy in policies if policy.kind not in _CARRIED_OUT]
    problems += _declared_twice(declarations)
    problems += [_of_no_system(manifest) for manifest in parts.objects.manifests if manifest.kind in _APIS]
    clusters = [_collected(problems, _cluster, member) for member in declarations]
    declared = _collected(problems, declared_clusters, parts.objects.manifests) or ()
    settings = _collected(problems, read_settings, parts.objects.manifests) or KarmadaSettings()
    health = _collected(problems, read_health, parts.objects.manifests) or ()
    problems += [problem for policy in policies for problem in unobserved(policy, declared)]
    refused, warnings = unheeded((*parts.members, *parts.policies, *envelopes), settings)
    problems += refused
    if problems:
        raise FleetError(problems)
    placements = tuple(Placement.from_manifest(policy) for policy in policies if policy.kind in _PLACEMENTS)
    members = (*(cluster for cluster in clusters if cluster), *declared)
    written = {member.name: member for member in declarations}
    warnings += [problem for member in declarations for problem in unread(member)]
    warnings += (*idle_runs(policies), *_passed_over(parts.policies))
    return Source(members, placements, parts.objects, tuple(policies), settings, health, written, tuple(warnings))


def _admitted(manifests: Iterable[Manifest], context: Sequence[Manifest], problems: list[Problem]) -> list[Manifest]:
    """The objects as the API servers would keep them; what they refuse is added to the problems."""
    admitted = [admit(m, context=[other for other in context if other is not m]) for m in manifests]
    problems += [problem for admission in admitted for problem in admission.problems]
    return [admission.defaulted for admission in admitted if not admission.problems]


def _cluster(member: Manifest) -> Cluster:
    if problems := misread(member):
        raise FleetError(problems)
    read = read_member_cluster if member.kind == "MemberCluster" else read_karmada_cluster
    try:
        return serving_both(read(member.data))
    except ValueError as error:
        raise FleetError([member.problem(str(error), ("status",))]) from error


def _of_no_system(manifest: Manifest) -> Problem:
    """A policy or member under a group that nobody serves would be taken for an object to place, and do nothing."""
    what = f"{manifest.api_version} has no {manifest.kind}"
    return manifest.problem(what, ("apiVersion",), f"write apiVersion: {_APIS[manifest.kind]}")


def _declared_twice(members: Iterable[Manifest]) -> Iterator[Problem]:
    first: dict[str, Manifest] = {}
    for member in members:
        known = first.setdefault(member.name, member)
        if known is not member:
            what = f"the member is declared as {known.kind} too"
            yield member.problem(what, ("metadata", "name"), "keep one of the two: it serves both systems")


def _collected(problems: list[Problem], read: Callable[[A], T], value: A) -> T | None:
    try:
        return read(value)
    except FleetError as error:
        problems += error.problems
        return None


def _made_by_a_hub(policy: Manifest) -> bool:
    return policy.kind.endswith(_MADE_BY_A_HUB)


def _passed_over(policies: Iterable[Manifest]) -> Iterator[Problem]:
    """What hubs made and an export has brought along: how many of each kind, and where the first one is."""
    found: dict[str, list[Manifest]] = {}
    for policy in filter(_made_by_a_hub, policies):
        found.setdefault(policy.kind, []).append(policy)
    for kind, made in found.items():
        what = "made by a hub, passed over"
        yield attrs.evolve(made[0].problem(what), subject=count(len(made), f"{kind} object"))


def _not_carried_out(policy: Manifest) -> Problem:
    hint = _INSTEAD.get(policy.kind, "take it out, if members should run without it")
    return policy.problem(f"{policy.kind} is not carried out by this version", ("kind",), hint)
