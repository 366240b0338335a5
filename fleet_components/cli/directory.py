"""Plans a fleet from genuine YAML, without Pulumi."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

import attrs

from fleet_components.cli.past import Past, completed
from fleet_components.cli.planned import Decided, Planned
from fleet_components.content.secret import redacted
from fleet_components.model.inventory import Inventory
from fleet_components.model.problem import FleetError, Problem
from fleet_components.plan.place import Request, place
from fleet_components.plan.source import Workload, read_source
from fleet_components.rollout.guard import guard
from fleet_components.rollout.plan import Gates


def plan_directory(paths: Sequence[Path], past: Past, as_of: datetime | None) -> Planned:
    """Decide every placement that files and directories hold.

    Args:
        paths: files and directories of YAML.
        past: what was decided and done before.
        as_of: the time at which observed members and waits are judged.

    Raises:
        FleetError: the input cannot be worked with; all problems at once.
    """
    source = read_source(*paths)
    inventory = Inventory(source.clusters, as_of)
    problems: list[Problem] = []
    decided = []
    for workload in source.workloads():
        try:
            decided.append(_decide(workload, inventory, past))
        except FleetError as error:
            problems += error.problems
    if problems:
        raise FleetError(problems)
    return Planned(inventory, tuple(decided))


def _decide(workload: Workload, inventory: Inventory, past: Past) -> Decided:
    placement, selection = workload.placement, workload.selection
    name = f"{placement.kind}/{placement.key}"
    objects = tuple(map(redacted, workload.objects)) if past.redacted else workload.objects
    before = completed(past.record(name), objects)
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
    try:
        outcome = place(request, before)
    except FleetError as error:
        raise FleetError([_located(problem, workload) for problem in error.problems]) from error
    refusal = guard(f"placement {placement.key}", before.decisions, outcome.record.decisions)
    return Decided(
        placement.kind,
        request,
        before,
        outcome,
        place=f"{placement.origin.file}:{placement.origin.line}" if placement.origin else "",
        warnings=(
            *(str(warning) for warning in selection.warnings),
            *([f"pulumi up would refuse this: {refusal.what} ({refusal.hint})"] if refusal else []),
        ),
        skipped=tuple((str(skipped.key), skipped.reason) for skipped in selection.skipped),
    )


def _located(problem: Problem, workload: Workload) -> Problem:
    """The problem with the file and the line of the placement."""
    origin = workload.placement.origin
    if origin is None:
        return problem
    return attrs.evolve(
        problem, file=origin.file, line=origin.line, subject=f"{workload.placement.kind} {workload.name}"
    )
