"""A fleet, planned: what every subject of a source comes to, what is gone, and what is refused."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from functools import cached_property
from typing import Any

import attrs

from fleet_components.content.replacement import HOLDS_DATA
from fleet_components.content.stamp import manager_of, stamped
from fleet_components.model.inventory import Inventory
from fleet_components.model.manifest import ObjectKey
from fleet_components.model.problem import FleetError, Problem
from fleet_components.plan import names
from fleet_components.plan.departures import Coverage, Departure, Fate, Replacement, departures, replacements, undone
from fleet_components.plan.guard import Guard, Pair, together
from fleet_components.plan.karmada.needs import needs_of
from fleet_components.plan.karmada.templates import PROTECTED_LABEL, Templates, templates_of
from fleet_components.plan.kubefleet.place import located
from fleet_components.plan.kubefleet.subjects import PROTECTED, placement_subjects
from fleet_components.plan.names import Urn
from fleet_components.plan.options import Options, Renamed
from fleet_components.plan.past import DECLARED, LOST, Past, Standing
from fleet_components.plan.record import LACKS_HINT
from fleet_components.plan.source import Source
from fleet_components.plan.subject import Decided, Subject

_CLASH = "let one of them select it, or keep their policies on different members; a hub answers FailedToTakeOver"
_UNKNOWN = (Fate.SWEPT, Fate.UNDONE)
_CONTAINERS = {"Namespace", "CustomResourceDefinition"}


@attrs.frozen(slots=False)
class FleetPlan:
    """A fleet, planned.

    Attributes:
        options: what the plan was told.
        past: what it starts from, under the names of today.
        inventory: the members that are scheduled on.
        subjects: the placements, then the templates, those first that others need.
        departures: the objects that leave what has brought them to a member.
        replacements: the objects that are deleted and made anew.
        refused: why the update must not happen; each with what would allow it.
        warnings: what may surprise, of the fleet as a whole.
        waiting: the objects that no Karmada policy has, with a digest of each, to be remembered.
        members: what the roster is to remember of each member: ``member`` or ``lost``.
        manager: the field manager of all objects: what an earlier resource of this stack has set is its own.
    """

    options: Options
    past: Past
    inventory: Inventory
    subjects: tuple[Decided, ...]
    departures: tuple[Departure, ...] = ()
    replacements: tuple[Replacement, ...] = ()
    refused: tuple[Problem, ...] = ()
    warnings: tuple[Problem, ...] = ()
    waiting: Mapping[str, str] = attrs.field(factory=dict)
    members: Mapping[str, str] = attrs.field(factory=dict)
    manager: str = ""

    def of(self, component: str) -> tuple[Decided, ...]:
        """The subjects of one sort: ``Placement`` or ``Template``."""
        return tuple(one for one in self.subjects if component == one.subject.COMPONENT)

    @cached_property
    def gone(self) -> tuple[str, ...]:
        """The placements and templates that stood and are in the source no more."""
        known = {one.name for one in self.subjects}
        return tuple(sorted({*self.past.records, *(one.subject for one in self.past.standing)} - known))

    @property
    def members_gone(self) -> tuple[str, ...]:
        """The members that were declared and are no more."""
        return tuple(sorted(self.past.members.keys() - self.members.keys()))

    @cached_property
    def standing(self) -> Mapping[Pair, Standing]:
        """What stands, by member and object."""
        return {(one.cluster, one.key): one for one in self.past.standing}

    @cached_property
    def replaced(self) -> Mapping[Pair, Replacement]:
        """The objects that are deleted and made anew, by member and object."""
        return {(one.cluster, one.key): one for one in self.replacements}

    @cached_property
    def taken_over(self) -> Mapping[Pair, str]:
        """The URNs of what the stack has managed itself and the fleet brings from now on, by member and object."""
        return {
            (member, key): urn
            for member, patterns in self.options.takes_over.items()
            for urn, key in self.past.others.items()
            if any(fnmatchcase(Urn.parse(urn).name, pattern) for pattern in patterns)
        }

    @property
    def hidden(self) -> tuple[Problem, ...]:
        """What has to leave an old revision where it is without knowing what is in it."""
        return tuple(_lacking(one, revision) for one in self.subjects for revision in one.record.hidden()[:1])

    def emitted(self, decided: Decided, member: str) -> Iterator[dict[str, Any]]:
        """The objects that a member gets, marked with what has brought them."""
        for data in decided.deliveries[member].objects:
            yield stamped(data, stack=self.options.stack, placement=decided.name, manager=self.manager)

    def forgotten(self, member: str) -> tuple[str, ...]:
        """What is to be remembered of a lost member: what the fleet had brought there, but for what is kept anyway."""
        if self.members.get(member) != LOST:
            return ()
        known = self.past.members.get(member)
        stood = (one for one in self.past.standing if one.cluster == member and not one.kept)
        return tuple(sorted({*(known.forgotten if known else ()), *map(written, stood)}))

    def swept(self, member: str) -> tuple[Departure, ...]:
        """What may live on a member, is not wanted there any more, and is in no state, so that no engine deletes it."""
        return tuple(one for one in self.departures if one.fate in _UNKNOWN and one.cluster == member)


def plan_fleet(source: Source, past: Past, options: Options) -> FleetPlan:
    """Plan a fleet: the one way to a plan.

    Args:
        source: what was read.
        past: what was decided and what stands.
        options: how far the update may go, and what was accepted or renamed.

    Raises:
        FleetError: the source cannot be worked with: everything that stands in the way of a plan. What could be done
            and must not is no error: it is in ``refused``, beside the whole plan.
    """
    members = _members(source, options)
    reached = [name for name, state in members.items() if state != LOST]
    options = attrs.evolve(options, renamed=_renamed(past, options, members))
    past = past.renamed(options.renamed).reaching(reached)
    inventory = Inventory((one for one in source.clusters if one.name in reached), options.as_of)
    workloads, problems = source.workloads()
    placements = _decided(placement_subjects(source, workloads, inventory, past, options), past, source, problems)
    templates = templates_of(source, workloads, past.templates())
    problems += templates.problems
    subjects = (*placements, *_templates(templates, inventory, past, options, problems))
    if problems:
        raise FleetError(dict.fromkeys(problems))
    coverage = Coverage(subjects, _unseen(subjects, past))
    leaving = tuple(departures(past, coverage, members, options.lost))
    unknown = (
        *_swept(past, coverage, reached),
        *undone(past, coverage, inventory, keep=options.settings.keep_cluster_resources),
    )
    plan = FleetPlan(
        options=options,
        past=past,
        inventory=inventory,
        subjects=subjects,
        departures=(*leaving, *unknown),
        replacements=tuple(replacements(subjects, past)),
        warnings=templates.warnings,
        waiting=templates.waiting,
        members=members,
        manager=past.manager or manager_of(options.stack),
    )
    return attrs.evolve(plan, refused=(*templates.refused, *_clashes(coverage), *_guarded(plan)))


def written(standing: Standing) -> str:
    """An object in one text, as a member remembers it: ``apiVersion/Kind/namespace/name``."""
    return "|".join((standing.api_version, standing.key.kind, standing.key.namespace, standing.key.name))


def read_written(text: str) -> tuple[str, ObjectKey]:
    """The apiVersion and the object that :func:`written` wrote."""
    version, kind, namespace, name = text.split("|")
    return version, ObjectKey(version.rpartition("/")[0], kind, namespace, name)


def _members(source: Source, options: Options) -> dict[str, str]:
    """What the roster says of every member that is declared.

    Raises:
        FleetError: a member that is marked lost is none, or two members are one cluster.
    """
    declared = sorted(cluster.name for cluster in source.clusters)
    known = f"the members are: {', '.join(declared) or 'none'}"
    problems = [
        Problem(f'there is no member "{name}"', ("lost",), known) for name in sorted(options.lost - set(declared))
    ]
    first: dict[str, str] = {}
    for name in declared:
        identity = options.identities.get(name)
        if identity and (other := first.setdefault(identity, name)) != name:
            what = f"is the same cluster as member {other}"
            problems.append(
                Problem(what, subject=f"member {name}", hint="declare it once: two names would undo each other")
            )
    if problems:
        raise FleetError(problems)
    return {name: LOST if name in options.lost else DECLARED for name in declared}


def _renamed(past: Past, options: Options, members: Collection[str]) -> Renamed:
    """What was renamed: what the options say, and members whose cluster is known under another name.

    Raises:
        FleetError: something is declared as renamed that is not there, or is there under both names.
    """
    said = options.renamed
    problems = [*_wrongly_renamed("members", said.members, members, past.members)]
    if problems:
        raise FleetError(problems)
    old = {known.identity: name for name, known in past.members.items() if known.identity and name not in members}
    found = {
        name: old[identity]
        for name, identity in options.identities.items()
        if identity in old and name not in past.members and name not in said.members
    }
    return attrs.evolve(said, members={**found, **said.members})


def _wrongly_renamed(
    field: str, renamed: Mapping[str, str], declared: Collection[str], known: Collection[str]
) -> Iterator[Problem]:
    for new, old in renamed.items():
        if new not in declared:
            yield Problem(f'"{new}" is not declared', ("renamed", field, new), "write new: old")
        elif old in declared:
            yield Problem(f'"{old}" is still declared', ("renamed", field, new), "declare it under one name")


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
    templates: Templates, inventory: Inventory, past: Past, options: Options, problems: list[Problem]
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
    return tuple(found.values())


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


def _swept(past: Past, coverage: Coverage, reached: Sequence[str]) -> Iterator[Departure]:
    """What was forgotten on members that are back, and is not wanted there any more."""
    for member in reached:
        known = past.members.get(member)
        for text in known.forgotten if known else ():
            version, key = read_written(text)
            if not coverage.owner(member, key):
                yield Departure("", member, key, Fate.SWEPT, api_version=version)


def _clashes(coverage: Coverage) -> Iterator[Problem]:
    for key, owners, clusters in coverage.clashes():
        what = f"is brought to {_few(clusters)} by {' and '.join(owners)}"
        yield Problem(what, subject=str(key), hint=_CLASH)
    for subject, cluster, key in coverage.twice:
        what = f"is brought to {cluster} twice by {subject}, on its own and through an envelope"
        yield Problem(what, subject=str(key), hint="take it out of one of the two")


def _guarded(plan: FleetPlan) -> Iterator[Problem]:
    """What must not happen without a word."""
    guard = Guard(plan.options.settings.limit, plan.options.confirm)
    found = [
        guard.members(plan.past.members, plan.members),
        *guard.pairs(*_losses(plan)),
        *(_protected(guard, name) for name in plan.gone if name in plan.past.protected),
        *_taking_along(plan, guard),
        *_replaced(plan, guard),
    ]
    return (problem for problem in found if problem)


def _losses(plan: FleetPlan) -> tuple[dict[str, set[Pair]], dict[str, set[Pair]]]:
    """What stands and is not kept whatever happens, and what of it would be deleted, by what is counted together."""
    groups = _groups(plan)
    losable = (one for one in plan.past.standing if not one.kept and one.cluster not in plan.options.lost)
    standing = together((groups.get(one.subject, one.subject), (one.cluster, one.key)) for one in losable)
    relocated = _relocated(plan)
    lost = together(
        (groups.get(one.subject, one.subject), (one.cluster, one.key))
        for one in plan.departures
        if one.fate is Fate.DELETED and one.subject and (one.subject, one.cluster) not in relocated
    )
    return standing, lost


def _groups(plan: FleetPlan) -> dict[str, str]:
    """What the losses of each subject are counted under."""
    return {name: record.guarded_as(name) for name, record in plan.past.records.items()}


def _relocated(plan: FleetPlan) -> set[tuple[str, str]]:
    """The one member that a subject leaves while it stays on others: that may always happen."""
    left = {}
    for one in plan.subjects:
        stood = {cluster for cluster, here in one.subject.done.items() if here.revision is not None}
        goes = sorted(stood - one.record.decisions.keys())
        if len(goes) == 1 and one.record.decisions:
            left[one.name] = goes[0]
    return set(left.items())


def _protected(guard: Guard, name: str) -> Problem | None:
    marks = f"its annotation {PROTECTED}"
    if name.startswith(f"{names.TEMPLATE_KIND}/"):
        marks += f", or its label {PROTECTED_LABEL}"
    return guard.refuse(name, f"is protected from deletion by {marks}, and would go", [name])


def _taking_along(plan: FleetPlan, guard: Guard) -> Iterator[Problem | None]:
    """Namespaces and definitions that are deleted take along what others have put into them."""
    fates = (Fate.DELETED, *_UNKNOWN)
    deleted = [one for one in plan.departures if one.fate in fates and one.key.kind in _CONTAINERS]
    for key in sorted({one.key for one in deleted}):
        clusters = sorted(one.cluster for one in deleted if one.key == key)
        what = f"would be deleted on {_few(clusters)}, with all that is in it, whoever has put it there"
        yield guard.refuse(str(key), what, clusters)


def _replaced(plan: FleetPlan, guard: Guard) -> Iterator[Problem | None]:
    """What holds data, or others' objects, and would be deleted and made anew."""
    holding = [one for one in plan.replacements if (one.key.group, one.key.kind) in HOLDS_DATA]
    for key, fields in sorted({(one.key, one.fields) for one in holding}):
        clusters = sorted(one.cluster for one in holding if (one.key, one.fields) == (key, fields))
        fixed = f"{', '.join(fields)} cannot be changed"
        what = f"would be deleted on {_few(clusters)} and made anew, with all that it holds: {fixed}"
        yield guard.refuse(str(key), what, [*clusters, *fields])


def _lacking(decided: Decided, revision: int) -> Problem:
    what = f"revision {revision} stays on some members, and the state does not show its content"
    return Problem(what, subject=decided.name, hint=LACKS_HINT)


def _few(clusters: Sequence[str], most: int = 5) -> str:
    more = len(clusters) - most
    return ", ".join(clusters[:most]) + (f" and {more} more" if more > 0 else "")
