"""Plans a fleet from genuine YAML, without Pulumi."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path

from fleet_components.cli.planning.past import Past, completed
from fleet_components.cli.planning.planned import Decided, Planned
from fleet_components.cli.planning.project import instead_of
from fleet_components.cli.planning.templates import plan_templates
from fleet_components.content.load import load
from fleet_components.content.secret import redacted
from fleet_components.model.inventory import Inventory
from fleet_components.model.manifest import Manifest
from fleet_components.model.problem import FleetError, Problem
from fleet_components.plan.karmada.templates import templates_of
from fleet_components.plan.place import Request, place
from fleet_components.plan.source import Source, Workload, source_of
from fleet_components.rollout.guard import guard
from fleet_components.rollout.plan import Gates

_PROPERTY = re.compile(r"(?:property (?P<name>\S+) )?from cluster (?P<member>[^\s:]+)")
_SELECTORS = ("spec", "resourceSelectors")
_POLICIES = ("PropagationPolicy", "ClusterPropagationPolicy")
_QUANTITY_HINT = 'write a quantity, such as "0.05" or 16Gi: the whole scheduling cycle fails on it, here as on a hub'


def plan_directory(paths: Sequence[Path], stack: str, past: Past, as_of: datetime | None) -> Planned:
    """Decide every placement and template that files and directories hold.

    Args:
        paths: files and directories of YAML.
        stack: the stack that they would be; ties between members depend on it.
        past: what was decided and done before.
        as_of: the time at which observed members and waits are judged.

    Raises:
        FleetError: the input cannot be worked with; all problems at once.
    """
    manifests = _loaded(paths)
    source = source_of(manifests)
    if problems := list(_lacking(source, paths, past)):
        raise FleetError(problems)
    inventory = Inventory(source.clusters, as_of)
    members = {manifest.name: manifest for manifest in manifests if manifest.kind == "MemberCluster"}
    policies = {(policy.kind, policy.namespace, policy.name): policy for policy in source.policies}
    decided = []
    workloads = source.workloads()
    for workload in workloads:
        placement = workload.placement
        policy = policies[placement.kind, placement.namespace, placement.name]
        try:
            decided.append(_decide(workload, policy, inventory, past))
        except FleetError as error:
            problems += [_located(problem, policy, members) for problem in error.problems]
    if problems:
        raise FleetError(problems)
    templates = templates_of(source, workloads, {*past.done, *past.templates})
    return Planned(inventory, tuple(decided), plan_templates(templates, inventory, stack, past.templates, past.done))


def _loaded(paths: Sequence[Path]) -> tuple[Manifest, ...]:
    try:
        return load(*paths)
    except FleetError as error:
        raise FleetError(dict.fromkeys(map(instead_of, error.problems))) from error


def _lacking(source: Source, paths: Sequence[Path], past: Past) -> Iterator[Problem]:
    """What a fleet cannot be without. What Karmada's policies have placed stands without them."""
    where = ", ".join(map(str, paths))
    if not source.clusters:
        yield Problem("there is no member", file=where, hint="add MemberCluster objects, as a hub exports them")
    decides = source.placements or any(policy.kind in _POLICIES for policy in source.policies)
    if not decides and not past.templates:
        yield Problem("there is no placement", file=where, hint="add a ClusterResourcePlacement or ResourcePlacement")
    if not source.catalogue.manifests:
        hint = "add manifests of what is to be placed, a Namespace with its contents for example"
        yield from (
            policy.problem("there is no object that could be selected", _SELECTORS, hint)
            for policy in source.policies
            if policy.kind in ("ClusterResourcePlacement", "ResourcePlacement")
        )


def _decide(workload: Workload, policy: Manifest, inventory: Inventory, past: Past) -> Decided:
    placement, selection = workload.placement, workload.selection
    objects = tuple(map(redacted, workload.objects)) if past.redacted else workload.objects
    before = completed(past.record(f"{placement.kind}/{placement.key}"), objects)
    request = Request(
        key=placement.key,
        policy=placement.spec.policy,
        strategy=workload.strategy,
        inventory=inventory,
        objects=objects,
        namespace=placement.namespace,
        done=past.done.get(placement.key, {}),
        gates=Gates(as_of=inventory.as_of),
        untrackable=workload.untrackable,
    )
    outcome = place(request, before)
    refusal = guard(f"placement {placement.key}", before.decisions, outcome.record.decisions)
    return Decided(
        placement.kind,
        request,
        before,
        outcome,
        place=f"{placement.origin.file}:{placement.origin.line}" if placement.origin else "",
        warnings=(
            *map(str, (*selection.warnings, *_surprises(request, policy))),
            *([f"pulumi up would refuse this: {refusal.what} ({refusal.hint})"] if refusal else []),
        ),
        skipped=tuple((str(skipped.key), skipped.reason) for skipped in selection.skipped),
    )


def _surprises(request: Request, policy: Manifest) -> Iterator[Problem]:
    """What a hub takes without a word, and what is most likely not meant."""
    if not request.objects:
        yield policy.problem("nothing is selected", _SELECTORS, "select objects that are among the manifests")
    named = request.policy.cluster_names if request.policy else ()
    for index, name in enumerate(named):
        if request.inventory.position(name) is None:
            hint = f"the members are: {', '.join(request.inventory.names)}"
            yield policy.problem(f'there is no member "{name}"', ("spec", "policy", "clusterNames", index), hint)


def _located(problem: Problem, policy: Manifest, members: Mapping[str, Manifest]) -> Problem:
    """The problem of a cycle with its file and line: of the member that makes it fail, else of the placement."""
    found = _PROPERTY.search(problem.what)
    if found and (member := members.get(found["member"])):
        field = ("properties", found["name"]) if found["name"] else ("resourceUsage",)
        return member.problem(problem.what, ("status", *field), _QUANTITY_HINT)
    return policy.problem(problem.what, ("spec", "policy"), problem.hint)
