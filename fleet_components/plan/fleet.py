"""Plan a whole fleet: :func:`plan_fleet` combines source, past and options into a
:class:`FleetPlan`.

The Pulumi components and all commands go through this one function, so that what the command line
shows is what an update does.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

import attrs

from fleet_components.content.stamp import manager_of
from fleet_components.model.inventory import Inventory
from fleet_components.model.message import Message
from fleet_components.model.problem import FleetError, Problem, in_order, layered
from fleet_components.plan import names
from fleet_components.plan.again import mended
from fleet_components.plan.checks import checked, unknown_checks
from fleet_components.plan.claims import of_other_stacks
from fleet_components.plan.consignment import consignment_of
from fleet_components.plan.departures import (
    Coverage,
    Replacement,
    departures,
    forced_of,
    replacements,
    swept,
    undone,
    unseen,
)
from fleet_components.plan.fleet_plan import FleetPlan, grouped, sent_to
from fleet_components.plan.guard import not_tokens
from fleet_components.plan.immutable import held_fields, refused_changes
from fleet_components.plan.lost import lookalikes, member_states, same_cluster
from fleet_components.plan.moving import previous_ways
from fleet_components.plan.on_hub import as_carried_out, sealed, with_unapplied
from fleet_components.plan.options import Options
from fleet_components.plan.own_outputs import LOST
from fleet_components.plan.pass_over import not_passed_over, passed_over, passed_to
from fleet_components.plan.past import Past
from fleet_components.plan.planning import Planning, SystemPlan
from fleet_components.plan.precedence import Precedence, ordered
from fleet_components.plan.recorded import Recorded
from fleet_components.plan.refusals import known_clashes, refusals
from fleet_components.plan.renames import find_renames
from fleet_components.plan.source import Source
from fleet_components.plan.subject import Decided
from fleet_components.plan.unmatched import unmatched
from fleet_components.plan.ways import STEERING, ways_of
from fleet_components.scheduler.plugins import load_plugins
from fleet_components.systems.registry import SYSTEMS

# Loaded here, so that a progress display shows the time of planning, and not of loading.
for _system in SYSTEMS.values():
    _system.load()

_SAME_CLUSTER = Message("same-cluster-as-member", "is the same cluster as member {other}")


def plan_fleet(source: Source, past: Past, options: Options) -> FleetPlan:
    """Return the plan of a fleet. This is the only function that makes plans.

    Args:
        source: the parsed fleet.
        past: what was decided and what stands.
        options: the limits of the update, and what was accepted or renamed.

    Raises:
        FleetError: the source or the options cannot be used; carries every problem that prevents a
            plan, including what could not be read. An update that is possible but must not happen
            raises nothing: its problems are in ``refused`` of the complete plan.
    """
    of_options, planning = list[Problem](), [*not_tokens(options.confirm)]
    # The source is checked under it, so that it says which one counts.
    settings = options.settings.under(source.given.releases)
    options = attrs.evolve(options, settings=settings)
    options = _loaded(options, of_options)
    members = _members(source, past, options, of_options)
    reached = {name: state for name, state in members.items() if state != LOST}
    found = find_renames([placement.key for placement in source.placements], members, past, options)
    of_options += (*found.problems, *unknown_checks(options.skip_checks))
    renames = found.renames
    # Renamed first: ``reached`` holds the current names.
    inventory = Inventory(
        (cluster for cluster in source.clusters if cluster.name in reached), options.as_of
    )
    past = past.renamed(renames.members, renames.placements)
    by_name = {cluster.name: cluster for cluster in inventory.clusters}
    past = as_carried_out(past.compared(by_name), by_name).reaching(reached)
    ways, contradicting = ways_of(source.policies, options.settings.delivery)
    ways = ways.held(previous_ways(past)) if options.moving else ways
    source, passed_on = passed_to(source, ways)
    # All at once, so that problems of all systems are reported together.
    parts = tuple(_parts(Planning(source, inventory, past, options, ways)))
    subjects = tuple(decided for part in parts for decided in part.subjects)
    matching = [problem for part in parts for problem in part.unselectable]
    planning += [problem for part in parts for problem in part.problems]
    planning += refused_changes(source.policies, past.held, source.given.releases)
    planning += _unreachable(subjects, members, options)
    refused = (*source.problems, *not_passed_over(source, options.pass_over))
    # Each layer works on what the earlier ones could read; ``layered`` drops problems that only
    # follow from those.
    problems = layered(refused, (*of_options, *matching, *contradicting), planning)
    if problems:
        raise FleetError(problems)
    subjects, past = sealed(_mended(subjects, past, options), past)
    subjects, precedence, blocked = _in_order(subjects, past, inventory, options)
    subjects, replaced = _as_applied(subjects, past, options)
    # What a held member keeps counts as wanted, also if its content is hidden: else its objects
    # would seem to leave.
    coverage = Coverage(subjects, unseen(subjects, past))
    leaving = tuple(departures(past, coverage, members))
    keep = options.settings.keep_cluster_resources
    reporting = past.reporting.union(
        decided.name for decided in subjects if decided.subject.reports
    )
    broken_off = undone(past, coverage, inventory, keep=keep, reporting=reporting)
    unrecorded = (*swept(past, coverage, reached), *broken_off)
    # An observed hub shows only the objects that its policies select.
    partial = bool(options.hub)
    matchless = unmatched(source, parts, subjects, inventory)
    surprising = checked(subjects, leaving, source.catalogue, options.skip_checks, partial=partial)
    consignment = consignment_of(source, ways, subjects, past)
    plan = FleetPlan(
        options=options,
        past=past,
        inventory=inventory,
        subjects=subjects,
        departures=(*leaving, *unrecorded),
        replacements=replaced,
        warnings=in_order(
            (
                *source.warnings,
                *passed_over(source, options.pass_over),
                *lacking(source, past),
                *found.warnings,
                *_nobody_lost(options, members),
                *(problem for part in parts for problem in part.warnings),
                *matchless,
                *surprising,
                *passed_on,
                *consignment.left_out,
            )
        ),
        waiting={key: text for part in parts for key, text in part.waiting.items()},
        handed_out=source.settings.brings_namespaces,
        held=held_fields(source.policies),
        members=members,
        # The recorded one first: under another, API servers would refuse changes of what this stack
        # has set.
        manager=past.manager or manager_of(options.stack),
        consignment=consignment,
        renames=renames,
        precedence=precedence,
        blocked=blocked,
        unplaced=tuple(problem for part in parts for problem in part.refused),
        coverage=coverage,
        written=source.catalogue,
    )
    # Afterwards, because what is taken over, and all refusals, follow from the plan itself.
    plan = attrs.evolve(plan, replacements=(*replaced, *taken_replacements(plan)))
    warnings = (*plan.warnings, *known_clashes(plan), *of_other_stacks(plan), *lookalikes(plan))
    return attrs.evolve(plan, refused=tuple(refusals(plan)), warnings=warnings)


def _parts(planning: Planning) -> Iterator[SystemPlan]:
    """Yield the part of each system; what an earlier one takes, a later one leaves alone."""
    for system in SYSTEMS.values():
        part = system.planned(planning)
        planning = attrs.evolve(planning, taken={**planning.taken, **part.taken})
        yield part


def lacking(source: Source, past: Past) -> Iterator[Problem]:
    """Yield problems if a new fleet has no members, no placements, or no objects to select.

    The command line refuses a directory for these problems. A plan has them as warnings only,
    because a program may start with an incomplete fleet. A fleet with a past yields none:
    everything may be removed from it, and the plan shows that.
    """
    if past.members:
        return
    if not source.clusters:
        hint = "add MemberCluster objects, as a hub exports them"
        yield Problem(
            Message("no-members-declared", "there is no member"),
            hint=hint,
            file=source.given.location,
            follows=True,
        )
    if not any(manifest.kind in STEERING for manifest in source.policies):
        hint = "add a ClusterResourcePlacement or ResourcePlacement"
        yield Problem(
            Message("no-placements", "there is no placement"),
            hint=hint,
            file=source.given.location,
            follows=True,
        )
    if not source.catalogue.manifests:
        hint = "add manifests of what is to be placed, a Namespace with its contents for example"
        for placement in source.placements:
            policy = source.policy(placement.kind, placement.namespace, placement.name)
            what = Message("no-object-could-selected", "there is no object that could be selected")
            yield attrs.evolve(
                policy.problem(what, ("spec", "resourceSelectors"), hint), follows=True
            )


def _loaded(options: Options, problems: list[Problem]) -> Options:
    """Return the options, without plug-ins if they cannot be used: then the problems say so."""
    try:
        load_plugins(options.settings.plugins)
    except FleetError as error:
        problems += error.problems
        return attrs.evolve(options, settings=attrs.evolve(options.settings, plugins=()))
    return options


def _members(
    source: Source, past: Past, options: Options, problems: list[Problem]
) -> dict[str, str]:
    """Return the state of every member for the roster.

    Options that name other members that are not declared, and members that are the same cluster,
    are added to the problems.
    """
    declared = sorted(cluster.name for cluster in source.clusters)
    problems += (
        _no_member("takes_over", name, declared)
        for name in sorted(options.takes_over.keys() - set(declared))
    )
    known_by = {name: options.identities[name] for name in declared if name in options.identities}
    problems += same_cluster(known_by, _SAME_CLUSTER)
    return member_states(declared, past, options)


def _nobody_lost(options: Options, members: Collection[str]) -> Iterator[Problem]:
    """Yield warnings of names of lost members that are neither declared nor known."""
    return (_no_member("lost", name, members) for name in sorted(options.lost.difference(members)))


def _no_member(field: str, name: str, members: Collection[str]) -> Problem:
    known = f"the members are: {', '.join(members) or 'none'}"
    return Problem(
        Message("no-member-declared", 'there is no member "{name}"', name=name),
        (field,),
        known,
        follows=True,
    )


def _in_order(
    subjects: tuple[Decided, ...], past: Past, inventory: Inventory, options: Options
) -> tuple[tuple[Decided, ...], Precedence, Mapping[str, frozenset[str]]]:
    """Return the decisions in an order across subjects; see :func:`ordered`."""
    if options.hub:
        return subjects, Precedence(), {}
    stands = {(found.cluster, found.key) for found in past.standing}
    return ordered(subjects, past, inventory, stands)


def taken_replacements(plan: FleetPlan) -> Iterator[Replacement]:
    """Yield the objects of other resources of the stack that come and that the provider
    recreates.
    """
    for (cluster, key), claims in plan.taken_over.items():
        decided, recorded = plan.brought[cluster, key], Recorded.of(claims[0].outputs)
        if recorded:
            written = decided.deliveries[cluster].written
            for forced in forced_of({key: recorded}, written).values():
                yield Replacement(decided.name, cluster, key, *forced)


def _mended(subjects: Sequence[Decided], past: Past, options: Options) -> tuple[Decided, ...]:
    """Return the decisions with what is missing on members.

    What a hub brings is in no state, so that nothing can be missing there. Neither can anything
    of a fleet that was observed on a hub: no engine has registered its component.
    """
    if not any(kind == names.FLEET for kind, _ in past.urns):
        return tuple(subjects)
    standing = {(found.cluster, found.key): found for found in past.standing}
    direct = {decided.name for decided in subjects if not decided.hub and not options.hub}
    return tuple(mended(each, past, standing) if each.name in direct else each for each in subjects)


def _as_applied(
    subjects: Sequence[Decided], past: Past, options: Options
) -> tuple[tuple[Decided, ...], tuple[Replacement, ...]]:
    """Return the decisions, with what hubs cannot apply, and the objects that are recreated.

    A hub never recreates an object on a member. But what goes through a hub is written to it by
    the provider, which deletes the object there and recreates it: the hub takes it from its members
    in between.
    """
    found = grouped(replacements(subjects, past), lambda replacement: replacement.subject)
    if options.hub:
        return (
            tuple(with_unapplied(decided, found.get(decided.name, ())) for decided in subjects),
            (),
        )
    applied = (with_unapplied(decided, ()) if decided.hub else decided for decided in subjects)
    return tuple(applied), tuple(replacement for some in found.values() for replacement in some)


def _unreachable(
    subjects: Iterable[Decided], members: Mapping[str, str], options: Options
) -> list[Problem]:
    """Return the problems of unreachable members that the update sends something to."""
    return [
        options.unreachable[name]
        for name in sent_to(subjects, members)
        if name in options.unreachable
    ]
