"""Find the reasons why an update must not happen, and what would allow it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

import attrs

from fleet_components.content.catalogue import Catalogue
from fleet_components.content.replacement import HOLDS_DATA
from fleet_components.model.manifest import Manifest, ObjectKey, Origin, value_at
from fleet_components.model.message import Message
from fleet_components.model.problem import Problem
from fleet_components.model.text import few
from fleet_components.plan import names
from fleet_components.plan.departures import UNRECORDED, Coverage, Fate, Replacement
from fleet_components.plan.fleet_plan import FleetPlan, grouped
from fleet_components.plan.guard import PROTECTED, Guard, Pair, is_protected, together
from fleet_components.plan.lost import memory_tokens
from fleet_components.plan.moving import moved_over, releases
from fleet_components.plan.past import Past
from fleet_components.plan.record import Record
from fleet_components.plan.subject import Decided
from fleet_components.systems.registry import BY_COMPONENT, SYSTEMS

_SHOWN = 10
_CLASH = (
    "let one of them select it, or keep their policies on different members; a hub answers"
    " FailedToTakeOver"
)
_CLASH_OF_PLACES = "take it out of one of them, or keep their policies on different members"
_EVICTED = (
    "{key} keeps {clusters} although its policy may not pick them any more: evict it there with a"
    " ClusterResourcePlacementEviction for each, and the objects move alive; else let only one"
    " placement select it; a hub answers FailedToTakeOver"
)
_ABANDONED = (
    "let it go on as it was, with strategy.deleteStrategy: {propagationPolicy: Abandon}, for one"
    " update: then its objects stay where they are, and ReportDiff is taken"
)
_CLUSTER_WIDE = "ClusterResourcePlacement"
_DEFINITION = "CustomResourceDefinition"
_CONTAINERS = {"Namespace", _DEFINITION}
_REDEFINED = Message(
    "cannot-replaced-while-fleet",
    "cannot be replaced on {where} while the fleet has objects of its kind there ({objects}): the"
    " engine deletes these by their old names afterwards, whatever has these names by then",
)
_REDEFINED_HINT = "take these objects out of the source in an update of its own first"


def refusals(plan: FleetPlan) -> Iterator[Problem]:
    """Yield the objects that several subjects bring to one member, then the losses that are not
    confirmed.

    Args:
        plan: the plan; its own refusals do not count.
    """
    yield from plan.unplaced
    fresh = _clashes(plan.coverage, Places(plan.subjects, plan.written), plan.past, known=False)
    problems = (
        *fresh,
        *_compared_only(plan),
        *moved_over(plan),
        *_redefined(plan),
        *_guarded(plan),
    )
    # Most plans have no problem, and a fleet has many objects.
    manifests = plan.written.manifests if problems else ()
    origins = {str(manifest.key): manifest.origin for manifest in manifests}
    for problem in problems:
        origin = None if problem.file else origins.get(problem.subject)
        yield attrs.evolve(problem, file=origin.file, line=origin.line) if origin else problem


def known_clashes(plan: FleetPlan) -> Iterator[Problem]:
    """Yield the objects that several subjects have on a member already, as on a hub, where all but
    one fail.
    """
    places = Places(plan.subjects, plan.written)
    return _clashes(plan.coverage, places, plan.past, known=True)


def _shared(past: Past) -> Mapping[tuple[str, ObjectKey], set[str]]:
    """Return the subjects that have an object on a member."""
    found = defaultdict[tuple[str, ObjectKey], set[str]](set)
    for standing in past.standing:
        found[standing.cluster, standing.key].add(standing.subject)
    return found


def unused_tokens(plan: FleetPlan) -> frozenset[str]:
    """Return the given tokens that match no loss of the plan."""
    confirmed = plan.options.confirm
    if not confirmed:
        return frozenset()
    unconfirmed = attrs.evolve(plan, options=attrs.evolve(plan.options, confirm=frozenset()))
    refused = {problem.token for problem in _guarded(unconfirmed)}
    released = {*releases(unconfirmed).values(), *memory_tokens(unconfirmed).values()}
    return confirmed - released - refused


class Places:
    """Index of where the objects of each subject are written."""

    def __init__(self, subjects: Iterable[Decided], written: Catalogue) -> None:
        self._written = written
        self._subjects = {decided.name: decided.subject for decided in subjects}
        self._known: dict[str, Mapping[ObjectKey, tuple[Origin, ...]]] = {}

    def of(self, subject: str, key: ObjectKey) -> tuple[Origin, ...]:
        """Return where an object of a subject is written, envelopes included; nothing if it is not
        any more.
        """
        found = self._subjects.get(subject)
        if found:
            # Each envelope is opened once, however many of its objects clash.
            if subject not in self._known:
                self._known[subject] = found.origins
            return self._known[subject].get(key, ())
        manifest = self._written.get(key)
        return (manifest.origin,) if manifest and manifest.origin else ()


def _clashes(coverage: Coverage, places: Places, past: Past, *, known: bool) -> Iterator[Problem]:
    clashes = list(coverage.clashes())
    shared = _shared(past) if clashes else {}
    for key, owners, members in clashes:
        clusters = [
            member
            for member in members
            # Where all of them have it already, as on a hub, it is a warning; elsewhere a refusal.
            if shared.get((member, key), set()).issuperset(owners) == known
        ]
        if not clusters:
            continue
        written = {owner: places.of(owner, key)[:1] for owner in owners}
        first = next(chain.from_iterable(written.values()), None)
        standing = {owner for cluster in clusters for owner in shared.get((cluster, key), ())}
        by, hint = " and ".join(owners), _evicting(owners, standing, clusters) or _CLASH
        # The owners have the object from different places: taking it out of one of them is enough.
        if first and any(
            origin.place != first.place for origins in written.values() for origin in origins
        ):
            there = {
                owner: (origin.seen_from(first).place for origin in origins)
                for owner, origins in written.items()
            }
            by, hint = (
                " and ".join(" in ".join((owner, *there[owner])) for owner in owners),
                _CLASH_OF_PLACES,
            )
        yield _at(
            first,
            Message(
                "is-brought-to-by",
                "is brought to {clusters} by {by}",
                clusters=few(clusters),
                by=by,
            ),
            key,
            hint,
        )
    # Once: the call for the clashes that are not known yet reports these.
    for subject, key, clusters in () if known else coverage.twice:
        origins = places.of(subject, key)
        # Without any origin, nothing asks for the first one.
        where = " and ".join(_in(origin.seen_from(origins[0])) for origin in origins)
        what = Message(
            "brought-twice",
            "is brought to {clusters} twice by {subject}{where}",
            clusters=few(clusters),
            subject=subject,
            where=f": {where}" if where else "",
        )
        yield _at(next(iter(origins), None), what, key, "take it out of all places but one")


def _evicting(owners: Iterable[str], standing: Collection[str], clusters: Sequence[str]) -> str:
    """Return the hint to evict the placement that has the object already; empty if no eviction can
    empty the members.

    KubeFleet keeps a member that was picked once, and has evictions for cluster-wide placements
    only.
    """
    # join() takes the only item out of the collection, which has no index.
    kind, _, key = "".join(standing).partition("/") if len(standing) == 1 else ("", "", "")
    newer = set(owners) - set(standing)
    cluster_wide = {owner.partition("/")[0] for owner in newer} == {_CLUSTER_WIDE}
    return (
        _EVICTED.format(key=key, clusters=few(clusters))
        if kind == _CLUSTER_WIDE and cluster_wide
        else ""
    )


def _in(origin: Origin) -> str:
    return f"in {origin.place}" if origin.envelope else f"on its own ({origin.location})"


def _at(origin: Origin | None, what: Message, key: ObjectKey, hint: str) -> Problem:
    file, line = (origin.file, origin.line) if origin else ("", None)
    return Problem(what, subject=str(key), hint=hint, file=file, line=line)


def _compared_only(plan: FleetPlan) -> Iterator[Problem]:
    """Yield the placements that compare only from now on, and whose objects would be deleted for
    that.
    """
    reporting = {
        decided.name: decided.subject.origin for decided in plan.subjects if decided.subject.reports
    }
    gone = [
        departure
        for departure in plan.departures
        if departure.fate is Fate.DELETED and departure.subject in reporting
    ]
    for subject, found in sorted(grouped(gone, lambda departure: departure.subject).items()):
        what = few(sorted({str(departure.key) for departure in found}), _SHOWN)
        where = few(sorted({departure.cluster for departure in found}))
        text = Message(
            "compares-only-reportdiff-writes",
            "compares only, with ReportDiff, and writes nothing: {what} would be deleted on"
            " {where}",
            what=what,
            where=where,
        )
        yield Problem(text, subject=subject, hint=_ABANDONED)


def _guarded(plan: FleetPlan) -> Iterator[Problem]:
    """Yield the losses that need a confirmation and have none."""
    guard = Guard(plan.options.settings.limit, plan.options.confirm)
    # What moves to another fleet of the program goes on there.
    protected = plan.past.protected - plan.handed_over
    found = [
        # Nothing stands on a lost member that the roster no longer has.
        guard.members(
            plan.past.members.keys() - (plan.past.lost - plan.members.keys()),
            plan.members.keys() | plan.elsewhere,
        ),
        *guard.pairs(*_losses(plan)),
        *(_protected(guard, name) for name in plan.gone if name in protected),
        *_marked(plan, guard),
        *_taking_along(plan, guard),
        *_replaced(plan, guard),
        *_off_the_hub(plan, guard),
        *_handed_out(plan, guard),
    ]
    return (problem for problem in found if problem)


def _losses(plan: FleetPlan) -> tuple[dict[str, set[Pair]], dict[str, set[Pair]]]:
    """Return the standing pairs, except those that always stay, and those to be deleted, by what
    they count under.
    """
    groups = _groups(plan)
    there = (item for item in plan.past.standing if not (item.kept or item.gone))
    # What a lost member has is forgotten and not deleted.
    losable = (item for item in there if item.cluster not in plan.options.lost)
    standing = together(
        (groups.get(item.subject, item.subject), (item.cluster, item.key)) for item in losable
    )
    relocated = _relocated(plan)
    lost = together(
        (groups.get(departure.subject, departure.subject), (departure.cluster, departure.key))
        for departure in plan.departures
        if departure.fate is Fate.DELETED
        and departure.subject
        and (departure.subject, departure.cluster) not in relocated
    )
    return standing, lost


def _groups(plan: FleetPlan) -> dict[str, str]:
    """Return what the losses of each subject are counted under."""
    return {name: record.guarded_as(name) for name, record in plan.past.records.items()}


def _relocated(plan: FleetPlan) -> set[tuple[str, str]]:
    """Return the members that subjects leave while they stay on others, if only one each: that is
    never refused.
    """
    left = {}
    for decided in plan.subjects:
        stood = {
            cluster for cluster, here in decided.subject.done.items() if here.revision is not None
        }
        goes = sorted(stood - decided.record.decisions.keys())
        if len(goes) == 1 and decided.record.decisions:
            left[decided.name] = goes[0]
    return set(left.items())


def _protected(guard: Guard, name: str) -> Problem | None:
    marks = f"its annotation {PROTECTED}"
    label = BY_COMPONENT[names.component_of(name)].protecting_label
    if label:
        marks += f", or its label {label}"
    return guard.refuse(
        name,
        Message(
            "protected-from-deletion-go",
            "is protected from deletion by {marks}, and would go",
            marks=marks,
        ),
        [name],
    )


def _marked(plan: FleetPlan, guard: Guard) -> Iterator[Problem | None]:
    """Yield the protected objects of placements that would go; those of templates are protected
    with the template.
    """
    deleted = [departure for departure in plan.departures if departure.fate is Fate.DELETED]
    losing = plan.past.records.keys() & {departure.subject for departure in deleted}
    protected = {name: _protected_keys(plan.past.records[name]) for name in losing}
    marked = [
        departure for departure in deleted if departure.key in protected.get(departure.subject, ())
    ]
    # Only if needed: this goes through all objects of the fleet.
    wanted = (
        {Manifest(data).key for decided in plan.subjects for data in decided.subject.objects}
        if marked
        else ()
    )
    for key, found in sorted(
        grouped(
            (departure for departure in marked if departure.key not in wanted),
            lambda departure: departure.key,
        ).items()
    ):
        clusters = sorted(departure.cluster for departure in found)
        what = Message(
            "protected-from-deletion-annotation",
            "is protected from deletion by its annotation {protected}, and would be deleted on"
            " {clusters}",
            protected=PROTECTED,
            clusters=few(clusters),
        )
        yield guard.refuse(str(key), what, clusters)


def _protected_keys(record: Record[Any, Any]) -> set[ObjectKey]:
    """Return the objects that were protected when the placement was last decided."""
    return {
        manifest.key for manifest in map(Manifest, record.protectable) if is_protected(manifest)
    }


def _taking_along(plan: FleetPlan, guard: Guard) -> Iterator[Problem | None]:
    """Yield deletions of namespaces and definitions: they also delete what others have put into
    them.
    """
    # Objects in no state are deleted as well, though not by the engine.
    fates = (Fate.DELETED, *UNRECORDED)
    deleted = (
        departure
        for departure in plan.departures
        if departure.fate in fates and departure.key.kind in _CONTAINERS
    )
    for key, found in sorted(grouped(deleted, lambda departure: departure.key).items()):
        clusters = sorted(departure.cluster for departure in found)
        what = Message(
            "deleted-all-whoever-put",
            "would be deleted on {clusters}, with all that is in it, whoever has put it there",
            clusters=few(clusters),
        )
        yield guard.refuse(str(key), what, clusters)


def _off_the_hub(plan: FleetPlan, guard: Guard) -> Iterator[Problem | None]:
    """Yield deletions of namespaces and definitions on the hub: what others have in them there goes
    along.
    """
    # A hub that hands every namespace out takes it back as well.
    too = " and on every member" if any(map(_hands_out, plan.past.forecast.values())) else ""
    for key in sorted(plan.past.on_hub.keys() - plan.consignment.keys):
        if key.kind in _CONTAINERS:
            where = too if key.kind == "Namespace" else ""
            what = Message(
                "deleted-hub-all-whoever",
                "would be deleted on the hub{where}, with all that is in it, whoever has put it"
                " there",
                where=where,
            )
            yield guard.refuse(str(key), what, ["hub"])


def _hands_out(way: str) -> bool:
    return way in SYSTEMS and SYSTEMS[way].HANDS_OUT_NAMESPACES


def _handed_out(plan: FleetPlan, guard: Guard) -> Iterator[Problem | None]:
    """Yield deletions of namespaces that a control plane takes back from every member by itself.

    Source: karmada-io/karmada 1.19, pkg/controllers/namespace: each member has a Work of each
    namespace, which goes with the namespace.
    """
    taken = {decided.subject.key for decided in plan.subjects}
    gone = plan.past.waiting.keys() - plan.waiting.keys() - taken if plan.handed_out else ()
    for key in sorted(text for text in gone if text.startswith(names.NAMESPACE_KEY)):
        known = ObjectKey("", "Namespace", "", key.removeprefix(names.NAMESPACE_KEY))
        if known not in plan.past.on_hub:
            what = Message(
                "deleted-hub-every-member",
                "would be deleted on the hub and on every member, with all that is in it, whoever"
                " has put it there",
            )
            yield guard.refuse(str(known), what, ["hub"])


def _redefined(plan: FleetPlan) -> Iterator[Problem]:
    """Yield definitions that are replaced while the fleet has custom resources of them on the
    member.

    If the scope changes, the Kubernetes provider (4.34) deletes the new object of the same name, as
    it finds it by the new scope; of another kind it finds nothing, and waits.
    """
    definitions = (each for each in plan.replacements if each.key.kind == _DEFINITION)
    found = grouped(definitions, lambda each: (each.key, _custom_resources(plan, each)))
    for (key, objects), replaced in sorted(found.items()):
        if objects:
            where = few(sorted(each.cluster for each in replaced))
            what = _REDEFINED.filled(where=where, objects=few(objects))
            yield Problem(what, subject=str(key), hint=_REDEFINED_HINT)


def _custom_resources(plan: FleetPlan, definition: Replacement) -> tuple[str, ...]:
    """Return the objects of a definition that the fleet has on a member."""
    written = plan.written.get(definition.key)
    kind = value_at(written.data, ("spec", "names", "kind")) if written else None
    # A definition is called plural.group.
    group = definition.key.name.partition(".")[2]
    # Under an unknown or a changed kind, any object of the group may be one of them.
    renamed = kind is None or "spec.names.kind" in definition.fields
    keys = (stood.key for stood in plan.past.standing if stood.cluster == definition.cluster)
    of_kind = (key for key in keys if key.group == group and (renamed or key.kind == kind))
    return tuple(sorted(map(str, of_kind)))


def _replaced(plan: FleetPlan, guard: Guard) -> Iterator[Problem | None]:
    """Yield replacements of objects that hold data, or objects of others."""
    holding = (
        replacement
        for replacement in plan.replacements
        if (replacement.key.group, replacement.key.kind) in HOLDS_DATA
    )
    for (key, fields), found in sorted(
        grouped(holding, lambda replacement: (replacement.key, replacement.fields)).items()
    ):
        clusters = sorted(replacement.cluster for replacement in found)
        fixed = f"{', '.join(fields)} cannot be changed"
        what = Message(
            "deleted-made-anew-all",
            "would be deleted on {clusters} and made anew, with all that it holds: {fixed}",
            clusters=few(clusters),
            fixed=fixed,
        )
        yield guard.refuse(str(key), what, [*clusters, *fields])
