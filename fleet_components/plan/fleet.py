"""The one way to a plan: what every door goes through, from the source and the past to what will happen."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

import attrs

from fleet_components.content.stamp import manager_of
from fleet_components.model.inventory import Inventory
from fleet_components.model.karmada import CLUSTER_PROPAGATION, PROPAGATION
from fleet_components.model.problem import FleetError, Problem, in_order, layered
from fleet_components.plan import names
from fleet_components.plan.departures import Coverage, departures, replacements, swept, undone
from fleet_components.plan.fleet_plan import FleetPlan, sent_to
from fleet_components.plan.guard import is_token
from fleet_components.plan.identity import same_cluster
from fleet_components.plan.immutable import held_fields, refused_changes
from fleet_components.plan.karmada.needs import needs_of
from fleet_components.plan.karmada.templates import Templates, templates_of
from fleet_components.plan.kubefleet.subject import located
from fleet_components.plan.kubefleet.subjects import placement_subjects
from fleet_components.plan.kubefleet.unmatched import in_approvals
from fleet_components.plan.options import Options, Renamed
from fleet_components.plan.pass_over import not_passed_over, passed_over
from fleet_components.plan.past import DECLARED, LOST, Past, Standing
from fleet_components.plan.quantities import no_quantities
from fleet_components.plan.refusals import refusals
from fleet_components.plan.source import Source
from fleet_components.plan.subject import Decided, Subject
from fleet_components.plan.unmatched import unmatched
from fleet_components.scheduler.karmada.general_estimator import UnreadableMemberError


def plan_fleet(source: Source, past: Past, options: Options) -> FleetPlan:
    """Plan a fleet: the one way to a plan.

    Args:
        source: what was read.
        past: what was decided and what stands.
        options: how far the update may go, and what was accepted or renamed.

    Raises:
        FleetError: the source or the options cannot be worked with: everything that stands in the way of a plan, what
            could not be read included. What could be done and must not is no error: it is in ``refused``, beside the
            whole plan.
    """
    told, planning = list[Problem](), [*_no_tokens(options)]
    members = _members(source, options, told)
    reached = [name for name, state in members.items() if state != LOST]
    renamed, vain = _renamed(source, past, options, members, told)
    options = attrs.evolve(options, renamed=renamed)
    past = past.renamed(options.renamed).reaching(reached)
    inventory = Inventory((one for one in source.clusters if one.name in reached), options.as_of)
    workloads, matching = source.workloads()
    placements = _decided(placement_subjects(source, workloads, inventory, past, options), past, source, planning)
    templates = templates_of(source, workloads, past.templates())
    planning += templates.problems
    planning += refused_changes(source.policies, past.held)
    subjects = (*placements, *_templates(source, templates, inventory, past, options, planning))
    planning += _unreachable(subjects, members, options)
    refused = (*source.problems, *not_passed_over(source, options.pass_over))
    if problems := layered(refused, (*told, *matching), planning):
        raise FleetError(problems)
    coverage = Coverage(subjects, _unseen(subjects, past))
    leaving = tuple(departures(past, coverage, members, options.lost))
    keep = options.settings.keep_cluster_resources
    unrecorded = (*swept(past, coverage, reached), *undone(past, coverage, inventory, keep=keep))
    matchless = unmatched(source, templates, subjects, inventory)
    plan = FleetPlan(
        options=options,
        past=past,
        inventory=inventory,
        subjects=subjects,
        departures=(*leaving, *unrecorded),
        replacements=tuple(replacements(subjects, past)),
        warnings=in_order(
            (
                *source.warnings,
                *passed_over(source, options.pass_over),
                *lacking(source, past),
                *vain,
                *in_approvals(placements, options.settings.approvals),
                *templates.warnings,
                *matchless,
            )
        ),
        waiting=templates.waiting,
        held=held_fields(source.policies),
        members=members,
        manager=past.manager or manager_of(options.stack),
    )
    return attrs.evolve(plan, refused=(*templates.refused, *refusals(plan, coverage, source.catalogue)))


def lacking(source: Source, past: Past) -> Iterator[Problem]:
    """What a new fleet does nothing without: a directory is refused then, a program may begin so and is warned.

    From a fleet that is known everything may be taken, and the plan says so.
    """
    if past.members:
        return
    if not source.clusters:
        hint = "add MemberCluster objects, as a hub exports them"
        yield Problem("there is no member", hint=hint, file=source.given.place, follows=True)
    if not source.placements and not any(one.kind in (PROPAGATION, CLUSTER_PROPAGATION) for one in source.policies):
        hint = "add a ClusterResourcePlacement or ResourcePlacement"
        yield Problem("there is no placement", hint=hint, file=source.given.place, follows=True)
    if not source.catalogue.manifests:
        hint = "add manifests of what is to be placed, a Namespace with its contents for example"
        for placement in source.placements:
            policy = source.policy(placement.kind, placement.namespace, placement.name)
            what = "there is no object that could be selected"
            yield attrs.evolve(policy.problem(what, ("spec", "resourceSelectors"), hint), follows=True)


def _no_tokens(options: Options) -> Iterator[Problem]:
    for text in sorted(options.confirm):
        if not is_token(text):
            hint = "a refusal tells its token: eight digits and letters, a to f"
            yield Problem(f'"{text}" is no token', ("confirm",), hint)


def _members(source: Source, options: Options, problems: list[Problem]) -> dict[str, str]:
    """What the roster says of every member that is declared. What is said of others is a problem."""
    declared = sorted(cluster.name for cluster in source.clusters)
    known = f"the members are: {', '.join(declared) or 'none'}"
    problems += [
        Problem(f'there is no member "{name}"', (field,), known, follows=True)
        for field, named in (("lost", options.lost), ("takes_over", options.takes_over.keys()))
        for name in sorted(named - set(declared))
    ]
    known_by = {name: options.identities[name] for name in declared if name in options.identities}
    problems += same_cluster(known_by, "is the same cluster as member {other}")
    return {name: LOST if name in options.lost else DECLARED for name in declared}


def _renamed(
    source: Source, past: Past, options: Options, members: Collection[str], problems: list[Problem]
) -> tuple[Renamed, list[Problem]]:
    """What is renamed by this update, and what was said in vain.

    It is what the options say, and members whose cluster is known under another name. What was renamed before may
    still be said, and says nothing more. What is said to be renamed and is not there, or is there under both names,
    is a problem.
    """
    placements = {name.partition("/")[2] for name in past.records}
    declared = [placement.key for placement in source.placements]
    said = attrs.evolve(
        options.renamed,
        members=_pending(options.renamed.members, past.members, members),
        placements=_pending(options.renamed.placements, placements, declared),
    )
    wrong = [
        *_wrongly_renamed("members", said.members, members),
        *_wrongly_renamed("placements", said.placements, declared),
    ]
    if wrong:
        problems += wrong
        return Renamed(fleet=said.fleet), []
    vain = [*_in_vain("members", said.members, past.members), *_in_vain("placements", said.placements, placements)]
    old = {known.identity: name for name, known in past.members.items() if known.identity and name not in members}
    found = {
        name: old[identity]
        for name, identity in options.identities.items()
        if identity in old and name not in past.members and name not in said.members
    }
    return attrs.evolve(said, members={**found, **said.members}), vain


def _pending(renamed: Mapping[str, str], known: Collection[str], declared: Collection[str]) -> dict[str, str]:
    """What may still stand under its old name; where something else has that name by now, nothing does."""
    return {new: old for new, old in renamed.items() if not (new in known and old in declared)}


def _wrongly_renamed(field: str, renamed: Mapping[str, str], declared: Collection[str]) -> Iterator[Problem]:
    for new, old in renamed.items():
        if new not in declared:
            yield Problem(f'"{new}" is not declared', ("renamed", field, new), "write new: old", follows=True)
        elif old in declared:
            yield Problem(f'"{old}" is still declared', ("renamed", field, new), "declare it under one name")


def _in_vain(field: str, renamed: Mapping[str, str], known: Collection[str]) -> Iterator[Problem]:
    for new, old in renamed.items() if known else ():
        if old not in known and new not in known:
            hint = f"what stands is called: {', '.join(sorted(known))}"
            yield Problem(f'nothing was ever called "{old}"', ("renamed", field, new), hint)


def _decided(
    subjects: Iterable[Subject[Any]], past: Past, source: Source, problems: list[Problem]
) -> tuple[Decided, ...]:
    """The placements, decided."""
    found = []
    for subject in subjects:
        before = past.record(subject.name, subject.RECORD)
        try:
            found.append(Decided(subject, before, subject.decide(before)))
        except FleetError as error:
            namespace, _, name = subject.key.rpartition("/")
            policy = source.policy(subject.kind, namespace, name)
            problems += [located(problem, source.declarations, policy) for problem in error.problems]
    return tuple(found)


def _templates(
    source: Source, templates: Templates, inventory: Inventory, past: Past, options: Options, problems: list[Problem]
) -> tuple[Decided, ...]:
    """The templates, decided: those first that others need, since where they go is where these go along."""
    found: dict[str, Decided] = {}
    for workload in templates.workloads:
        parents = {key: found[key].record.memory for key in workload.needed_by if key in found}
        needs = needs_of(parents, {key for key, always in workload.needed_by.items() if always})
        subject = templates.subject(workload, inventory, past, options, needs)
        before = past.record(subject.name, subject.RECORD)
        first = tuple(
            f"{names.TEMPLATE_KIND}/{one.key}" for one in templates.workloads if workload.key in one.needed_by
        )
        try:
            found[workload.key] = Decided(subject, before, subject.decide(before), first)
        except FleetError as error:
            problems += error.problems
        except UnreadableMemberError:
            problems += no_quantities(inventory.clusters, source.declarations)
    return tuple(found.values())


def _unreachable(subjects: Iterable[Decided], members: Mapping[str, str], options: Options) -> list[Problem]:
    """Why members cannot be reached to which something is sent."""
    return [options.unreachable[name] for name in sent_to(subjects, members) if name in options.unreachable]


def _unseen(subjects: Iterable[Decided], past: Past) -> Iterator[Standing]:
    """What stands where a revision stays whose content is not known."""
    hidden = {
        (one.name, cluster)
        for one in subjects
        if one.record.hidden()
        for cluster, placed in one.record.decisions.items()
        if placed.revision not in one.record.contents
    }
    return (one for one in past.standing if (one.subject, one.cluster) in hidden)
