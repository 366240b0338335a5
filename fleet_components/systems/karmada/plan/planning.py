"""The part of Karmada in a plan: its templates, decided, and what matches nothing."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import partial

import attrs

from fleet_components.model.problem import FleetError, Problem
from fleet_components.plan.asked_objects import AskedObjects
from fleet_components.plan.names import TEMPLATE_KIND
from fleet_components.plan.planning import Planning, SystemPlan
from fleet_components.plan.subject import Decided
from fleet_components.plan.unmatched import no_quantities
from fleet_components.systems.karmada.plan.asked_members import KarmadaMembers
from fleet_components.systems.karmada.plan.needs import needs_of
from fleet_components.systems.karmada.plan.templates import (
    Templates,
    TemplateWorkload,
    templates_of,
)
from fleet_components.systems.karmada.plan.trial import idle_rules
from fleet_components.systems.karmada.plan.unmatched import in_policies, in_requests, without_apis
from fleet_components.systems.karmada.plan.unserved import changed_totals, unserved
from fleet_components.systems.karmada.scheduler.estimator import UnreadableMemberError


def planned(planning: Planning) -> SystemPlan:
    """Return the templates of a source, decided."""
    templates = templates_of(planning.source, planning.taken, planning.past.templates())
    problems = list(templates.problems)
    subjects = _decided(planning, templates, problems)
    return SystemPlan(
        subjects=subjects,
        problems=tuple(problems),
        warnings=templates.warnings,
        unmatched=partial(_unmatched, planning, templates),
        unclaimed=templates.unclaimed,
        waiting=templates.waiting,
        refused=tuple(templates.refused),
    )


def _decided(
    planning: Planning, templates: Templates, problems: list[Problem]
) -> tuple[Decided, ...]:
    """Return the templates, decided in the order of the workloads.

    Templates that need others come before what they need: a dependency follows them to their
    members.
    """
    found: dict[str, Decided] = {}
    first: dict[str, list[str]] = defaultdict(list)
    for workload in templates.workloads:
        for parent in workload.needed_by:
            first[parent].append(f"{TEMPLATE_KIND}/{workload.key}")
    for workload in templates.workloads:
        # A parent without a decision is missing here: it has a problem of its own.
        parents = {key: found[key] for key in workload.needed_by if key in found}
        try:
            decided = _decide(planning, templates, workload, parents)
            found[workload.key] = attrs.evolve(decided, first=tuple(first[workload.key]))
        except FleetError as error:
            name = f"{TEMPLATE_KIND}/{workload.key}"
            problems += (
                attrs.evolve(problem, subject=problem.subject or name) for problem in error.problems
            )
        except UnreadableMemberError:
            problems += no_quantities(planning.inventory.clusters, planning.source.declarations)
    return tuple(found.values())


def _decide(
    planning: Planning,
    templates: Templates,
    workload: TemplateWorkload,
    parents: dict[str, Decided],
) -> Decided:
    """Return a template, decided.

    Args:
        planning: the input of the plan.
        templates: all templates.
        workload: the template.
        parents: the templates that it goes along with, by key.

    Raises:
        FleetError: no decision is possible.
        UnreadableMemberError: an amount of a member is not a quantity.
    """
    past, options, ways = planning.past, planning.options, planning.ways
    states = {key: parent.record.memory for key, parent in parents.items()}
    needs = needs_of(states, {key for key, always in workload.needed_by.items() if always})
    subject = templates.subject(workload, planning.inventory, past, options, needs)
    # Not final: the way of its policy counts, which is known after the first decision.
    subject = attrs.evolve(subject, by_hub=bool(options.hub) or ways.whole)
    before = past.record(subject.name, subject.RECORD)
    outcome = subject.decide(before)
    along = [parent.hub for parent in parents.values()]
    policy = outcome.record.steered_by(subject.name)
    hub = ways.template(policy, along, past.shown.get(subject.name, {}))
    # Whether a hub brings it depends on its policy, which only the decision shows.
    if bool(hub or options.hub) != subject.by_hub:
        subject = attrs.evolve(subject, by_hub=not subject.by_hub)
        outcome = subject.decide(before)
    decided: Decided = Decided(subject, before, outcome, hub=hub)
    return decided.by_hub() if hub else decided


def _unmatched(
    planning: Planning, templates: Templates, subjects: Sequence[Decided]
) -> Iterator[Problem]:
    """Yield warnings of what matches nothing."""
    source, inventory = planning.source, planning.inventory
    partial_source = bool(planning.options.hub)
    members = KarmadaMembers.of(source.clusters, inventory)
    objects = AskedObjects(source.catalogue, partial_source)
    yield from in_policies(templates, members, AskedObjects(templates.matched, partial_source))
    yield from idle_rules(templates, subjects, inventory)
    yield from changed_totals(subjects, inventory)
    yield from in_requests(source, templates, members, objects)
    yield from without_apis(source, templates)
    yield from unserved(subjects, source.catalogue, inventory)
