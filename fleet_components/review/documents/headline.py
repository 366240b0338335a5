"""Headline of a plan: three lines that tell a reviewer what happens, what is lost, and what the
plan starts from.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence

import attrs

from fleet_components.model.text import count, few
from fleet_components.plan.names import FLEET
from fleet_components.review.documents.form import OfAFleet, after_fleet, member_of
from fleet_components.review.documents.schema import (
    PlanDocument,
    ResourceDocument,
    SubjectDocument,
)
from fleet_components.review.planning.standing import CONDITIONS
from fleet_components.review.planning.unseen import hub_only_in_words

_IMAGE = re.compile(r"(^|\.)image$")
_REPLICAS = re.compile(r"(^|\.)(replicas|parallelism|completions)$")
_MOST_NAMES = 2


def headline(document: PlanDocument, steps: str) -> tuple[str, str, str]:
    """Return the three lines of a plan's document, whose other keys are filled.

    Args:
        document: the document.
        steps: what is left, counted in steps that a hub takes by itself.
    """
    lost = _what_is_lost(document, steps)
    return _what_happens(document), lost, _what_it_starts_from(document)


def subjects_in_words(placements: int, templates: int) -> str:
    """Return the number of subjects in words: ``3 placements and 1 template``."""
    parts = [count(placements, "placement")] if placements or not templates else []
    return " and ".join([*parts, *([count(templates, "template")] if templates else [])])


def _what_happens(document: PlanDocument) -> str:
    """Return the first line: ``2 placements lose a cluster, 1 is not fulfilled, nothing else
    changes``.
    """
    # What the base changes as well is not the doing of what is planned.
    subjects = [subject for subject in document.subjects if not subject.pending]
    due = " but what is due already" if len(subjects) < len(document.subjects) else ""
    # ``CONDITIONS`` are being unfulfilled and being held, in this order.
    failing, held = (
        [subject for subject in subjects if what not in subject.as_before] for what in CONDITIONS
    )
    parts = [
        *_gone(document),
        *_losing(subjects),
        *_unfulfilled(failing),
        *_gaining(subjects),
        *_updated(subjects),
    ]
    parts += [*_held(held), *_untaken(held), *_recorded(subjects)]
    parts += [*_joining(document), *_of_program(document)]
    called = refused_as(document)
    refused = f"{called}: " if document.refused else ""
    known = _as_far_as_known(document)
    member = document.view.member
    if member:
        rest = f"nothing {'else ' if parts else ''}changes on {member}{due}"
        return refused + ", ".join([*parts, rest, *known])
    if document.view.only:
        left = document.left_out
        others = (
            [f"{left} more that {'change' if left > 1 else 'changes'} not shown"] if left else []
        )
        return refused + ", ".join([*(parts or [f"nothing changes here{due}"]), *others, *known])
    if not parts and document.observed and document.observed.hub_only:
        return refused + ", ".join([f"no change is forecast{due}", *known])
    if not parts and not due:
        return refused + ", ".join(
            ["no placement changes" if document.changes else "nothing changes", *known]
        )
    return refused + ", ".join([*parts, f"nothing {'else ' if parts else ''}changes{due}", *known])


def _as_far_as_known(document: PlanDocument) -> list[str]:
    """Return that more may change: by policies that the hub alone carries out, and by what it has
    not answered.
    """
    observed, only = document.observed, document.view.only
    if not observed:
        return []
    hub_only = hub_only_in_words([item.kind for item in observed.hub_only])
    asked = [item for item in observed.unanswered if item.asked]
    concerned = {*observed.unknown, *(name for item in asked for name in item.subjects)}
    if only:
        concerned = {
            name for name in concerned if not {name, name.partition("/")[2]}.isdisjoint(only)
        }
    answered = ["as far as the hub has answered"] if concerned else []
    selected = (
        ["as far as the observation has what is selected"] if observed.unseen and not only else []
    )
    return [*([hub_only] if hub_only else []), *answered, *selected]


def _what_is_lost(document: PlanDocument, steps: str) -> str:
    """Return the second line: whether the update is refused, else which objects are deleted or
    replaced.
    """
    refused = document.refused
    if refused:
        if refused_as(document) != REFUSED:
            needed = (
                f"{count(len(refused), 'confirmation')} {'is' if len(refused) == 1 else 'are'}"
                " needed"
            )
            return f"{needed}: the hub would delete what is below without asking"
        return f"the update is refused, for {count(len(refused), 'reason')} below"
    members: dict[str, list[str]] = defaultdict(list)
    for item in document.gone.objects:
        members[_DELETED.get(item.fate, item.fate)].append(item.member)
    # Replaced objects are listed apart, since they come back.
    members["replaced"] += [each.member for each in document.replaced]
    lost = [
        f"{count(len(members[fate]), *words)} on {few(sorted(set(members[fate])), 3)}"
        for fate, words in _FATES.items()
        if members[fate]
    ]
    names = [other.name for other in _others(document) if other.change in ("delete", "replace")]
    if names:
        what = count(len(names), "resource of the program", "resources of the program")
        lost.append(
            f"{what} {'is' if len(names) == 1 else 'are'} deleted or replaced: {few(names, 3)}"
        )
    left = newly_left(document)
    # A hub updates by itself.
    if document.forecast == document.placements + document.templates > 0:
        # "left" would sound as if somebody had to update again.
        left = left and f"the hub goes on: {steps}"
        return "; ".join(
            filter(None, [", ".join(lost or ["no object is deleted or replaced"]), left])
        )
    return ", ".join(lost or ["no object is deleted or replaced"]) + (
        f"; left: {left}" if left else ""
    )


REFUSED, TO_BE_CONFIRMED = "refused", "to be confirmed"


def refused_as(document: PlanDocument) -> str:
    """Return how the refusal of a plan is called."""
    tokens = [refusal.token for refusal in document.refused]
    return refusal_called(tokens, observed=document.observed is not None)


def refusal_called(tokens: Iterable[str | None], *, observed: bool) -> str:
    """Return how a refusal is called: a hub asks nobody, so what it would carry out is ``to be
    confirmed``.

    Args:
        tokens: what allows each part of it; None where nothing does.
        observed: whether the plan starts from the observation of a hub.
    """
    return TO_BE_CONFIRMED if observed and all(tokens) else REFUSED


def newly_left(document: PlanDocument) -> str:
    """Return what an update leaves to later ones, in words; empty if nothing, or only what was left
    before.
    """
    left = document.remaining.words
    return "" if left == document.as_before.left else left or ""


_DELETED = {"swept": "deleted", "undone": "deleted"}
_FATES = {
    "deleted": ("object is deleted", "objects are deleted"),
    "replaced": ("object is replaced", "objects are replaced"),
    "forgotten": ("object is forgotten", "objects are forgotten"),
    "kept": ("object is kept and no longer managed", "objects are kept and no longer managed"),
    "moved": ("object moves and stays alive", "objects move and stay alive"),
}
"""Words for the fates of objects, the gravest first."""


def _what_it_starts_from(document: PlanDocument) -> str:
    """Return the third line: what is compared with, and how much stays as it is."""
    # against is set where words say more than the name of the state file.
    start = document.against or (
        f"the state {document.state}" if document.state else "nothing, a new fleet"
    )
    same = document.unchanged
    counted = (
        (same.placements, document.placements, "placement"),
        (same.templates, document.templates, "template"),
        (same.members, document.members, "member"),
    )
    of = [f"{number} of {count(whole, noun)}" for number, whole, noun in counted if whole]
    begin = "from" if document.observed else "compared with"
    parts = [f"{begin} {start}: unchanged are {few(of, 3)}"] if of else [f"{begin} {start}"]
    number = document.forecast
    # From an observed hub everything is a forecast, which need not be said.
    if number and not document.observed:
        whole = number == document.placements + document.templates
        parts.append(
            "a forecast: the hub decides"
            if whole
            else f"{count(number, 'forecast')}: there the hub decides"
        )
    unsure = document.unsure
    if unsure:
        parts.append(
            f"{count(unsure, 'decision')} could be another with the state that is in force"
        )
    if document.secrets_hidden:
        parts.append("data of Secrets is not compared, as the state has left it out")
    # Warnings that were there before are no part of the change.
    warned = document.warned - len(document.as_before.warnings)
    parts += [count(warned, "warning")] if warned else []
    return "; ".join(parts)


def gone_in_view(document: PlanDocument) -> list[tuple[str | None, str]]:
    """Return the subjects that go, as far as the view is about them, each with the fleet to name
    and its name.
    """
    view, gone = document.view, document.gone
    there = {item.subject for item in gone.objects if item.member == view.member}
    return [
        (fleet, name)
        for fleet, name in zip(gone.of_fleets, gone.subjects, strict=True)
        # The view names subjects by key, with their kind or without.
        if (not view.only or not {name, name.partition("/")[2]}.isdisjoint(view.only))
        and (not view.member or name in there)
    ]


@attrs.frozen
class _Gone:
    """A subject that goes."""

    of_fleet: str | None
    kind: str
    key: str


def _gone(document: PlanDocument) -> Iterator[str]:
    # Kind and key; the key may have slashes of its own.
    gone = [_Gone(fleet, *name.split("/", 1)) for fleet, name in gone_in_view(document)]
    if gone:
        yield f"{_named(gone)} {'goes' if len(gone) == 1 else 'go'}"
    if document.view.narrow:
        return
    members = document.gone.members
    if members:
        named = (
            " and ".join(members) if len(members) <= _MOST_NAMES else count(len(members), "member")
        )
        yield f"{named} {'leaves' if len(members) == 1 else 'leave'} the fleet"


def _joining(document: PlanDocument) -> Iterator[str]:
    """Yield the members that join the fleet without anything being placed on them."""
    used = {name for item in document.subjects for name in _names(item, "joins")}
    joining = [name for name in document.joining if name not in used]
    if joining and not document.view.narrow:
        named = (
            " and ".join(joining) if len(joining) <= _MOST_NAMES else count(len(joining), "member")
        )
        yield f"{named} {'joins' if len(joining) == 1 else 'join'} the fleet without any object"


def _losing(subjects: Sequence[SubjectDocument]) -> Iterator[str]:
    """Yield which subjects lose clusters; one that loses a single cluster and gains one moves."""
    moving = [subject for subject in subjects if _moves(subject)]
    if moving and len(moving) <= _MOST_NAMES:
        # Each of them leaves exactly one cluster and joins one: see _moves.
        ways = [(_key(data), *_names(data, "leaves"), *_names(data, "joins")) for data in moving]
        yield from (f"{key} moves from {old} to {new}" for key, old, new in ways)
    elif moving:
        yield f"{_named(moving)} move from one cluster to another"
    losing = [subject for subject in subjects if _names(subject, "leaves") and not _moves(subject)]
    if losing:
        yield (
            f"{_named(losing)} {'loses' if len(losing) == 1 else 'lose'}"
            f" {_all_of(losing, 'leaves')}"
        )


def _moves(subject: SubjectDocument) -> bool:
    return len(_names(subject, "leaves")) == len(_names(subject, "joins")) == 1


def _unfulfilled(subjects: Iterable[SubjectDocument]) -> Iterator[str]:
    found = [subject for subject in subjects if subject.unfulfilled]
    if found:
        yield f"{_named(found)} {'is' if len(found) == 1 else 'are'} not fulfilled"


def _gaining(subjects: Iterable[SubjectDocument]) -> Iterator[str]:
    """Yield which subjects come to clusters: new ones, and those that gain without having moved."""
    gaining = [subject for subject in subjects if _names(subject, "joins") and not _moves(subject)]
    fresh = [data for data in gaining if data.revision.old is None]
    more = [data for data in gaining if data.revision.old is not None]
    if len(fresh) == 1:
        yield f"{_named(fresh)} is new on {_all_of(fresh, 'joins')}"
    elif fresh:
        yield f"{_counted(fresh)} are new on {_all_of(fresh, 'joins')}"
    if more:
        yield f"{_named(more)} {'gains' if len(more) == 1 else 'gain'} {_all_of(more, 'joins')}"


def _updated(subjects: Iterable[SubjectDocument]) -> Iterator[str]:
    """Yield which clusters get something new of which subjects: ``5 clusters get a new image of
    shop in 3 waves``.
    """
    by_words: dict[str, list[SubjectDocument]] = defaultdict(list)
    for subject in subjects:
        if _written(subject):
            by_words[_novelty(subject)].append(subject)
    for words, found in by_words.items():
        clusters = {name for data in found for name in _written(data)}
        # Waves of members that join do not count.
        rows = ([row for row in data.clusters if row.change == "updated"] for data in found)
        waves = max(len({row.wave for row in moved}) for moved in rows)
        get = "gets" if len(clusters) == 1 else "get"
        in_waves = f" in {count(waves, 'wave')}" if waves > 1 else ""
        yield f"{_clusters(clusters)} {get} {words} of {_named(found)}{in_waves}"


def _novelty(subject: SubjectDocument) -> str:
    """Return what is new about the objects of a subject that members are updated with, an image
    first.
    """
    updated = set(_written(subject))
    changes = [
        item
        for item in subject.content or ()
        if not item.later and updated.intersection(item.members)
    ]
    # Only updates: what is created or replaced is counted as a whole below.
    fields = [field.field for item in changes if item.change == "update" for field in item.fields]
    objects = {
        change: len({item.object for item in changes if item.change == change})
        for change in _OBJECTS
    }
    replicas = any(each.replicas.old != each.replicas.new for each in subject.clusters)
    kinds = {
        "a new image": any(map(_IMAGE.search, fields)),
        "another number of replicas": replicas or any(map(_REPLICAS.search, fields)),
        "other fields": not all(
            _IMAGE.search(field) or _REPLICAS.search(field) for field in fields
        ),
    }
    found = [words for words, there in kinds.items() if there]
    found += [
        _OBJECTS[change][0] if n == 1 else f"{n} {_OBJECTS[change][1]}"
        for change, n in objects.items()
        if n
    ]
    if found and found != ["other fields"]:
        return " and ".join(filter(None, [", ".join(found[:-1]), found[-1]]))
    return (
        "the same once more"
        # No difference and no override: the same objects are written again.
        if not (subject.content is None or subject.content) and not subject.overridden
        else "new content"
    )


_OBJECTS = {
    "replace": ("an object made anew", "objects made anew"),
    "create": ("a new object", "new objects"),
    "delete": ("an object less", "objects less"),
}
"""Words for objects that change as a whole."""


def _held(subjects: Iterable[SubjectDocument]) -> Iterator[str]:
    held = [subject for subject in subjects if _names(subject, "held")]
    if held:
        yield f"{_named(held)} {'is' if len(held) == 1 else 'are'} held on {_all_of(held, 'held')}"


def _untaken(subjects: Iterable[SubjectDocument]) -> Iterator[str]:
    """Yield which subjects have changed without anything being held: no update run takes the
    change.
    """
    found = [
        subject for subject in subjects if subject.weight == "held" and not _names(subject, "held")
    ]
    if found:
        has = "has" if len(found) == 1 else "have"
        yield f"{_named(found)} {has} changed and no update run takes it"


def _recorded(subjects: Iterable[SubjectDocument]) -> Iterator[str]:
    recorded = [subject for subject in subjects if subject.weight == "recorded"]
    # A new subject without a member: nothing moves, and still it is new.
    fresh = [each for each in recorded if each.revision.old is None and not each.left]
    recorded = [each for each in recorded if each not in fresh]
    if fresh:
        yield f"{_named(fresh)} {'is' if len(fresh) == 1 else 'are'} new, placed nowhere"
    left = [data for data in recorded if data.left]
    if left:
        yield (
            f"{_named(left)} {'stays as it was' if len(left) == 1 else 'stay as they were'} placed"
        )
    found = [data for data in recorded if not data.left]
    if found:
        policy = all(
            any("policy" in field.field.split(".") for field in data.recorded) for data in found
        )
        yield (
            f"{'the policy' if policy else 'what is remembered'} of {_named(found)} changes and"
            " moves nothing"
        )


def _of_program(document: PlanDocument) -> Iterator[str]:
    """Yield how many resources that the program makes beside its fleets change."""
    changes = Counter(other.change for other in _others(document))
    for change, words in _DONE.items():
        if changes[change]:
            yield f"{count(changes[change], 'other resource is', 'other resources are')} {words}"


_DONE = {"create": "created", "update": "updated", "replace": "replaced", "delete": "deleted"}


def _others(document: PlanDocument) -> list[ResourceDocument]:
    """Return the resources that are neither below a fleet nor of this package."""
    resources = document.shown_resources
    below = {resource.urn for resource in resources if resource.type == FLEET}
    for resource in resources:  # parents come before their children
        if resource.parent in below:
            below.add(resource.urn)
    return [
        resource
        for resource in resources
        if resource.urn not in below and not resource.type.startswith(_OURS)
    ]


_OURS = ("pulumi:", "pulumi-python:dynamic/fleet:", "fleet:")


def _names(subject: SubjectDocument, change: str) -> list[str]:
    members = [cluster for cluster in subject.clusters if cluster.change == change]
    # What a hub cannot apply is shown as not fulfilled.
    named = (member for member in members if not (change == "updated" and member.unapplied))
    return [member_of(subject.of_fleet, member.name) for member in named]


def _written(subject: SubjectDocument) -> list[str]:
    """Return the members that are updated, and those that are held and where objects are
    written.
    """
    now = [each for each in subject.content or () if not each.later]
    fleet = subject.of_fleet
    written = {
        member_of(fleet, name) for each in now if each.change != "delete" for name in each.members
    }
    held = (name for name in _names(subject, "held") if name in written)
    return [*_names(subject, "updated"), *held]


def _all_of(subjects: Sequence[SubjectDocument], change: str) -> str:
    """Return the clusters with a change of any of the subjects: ``aks-iowa``, ``a cluster`` each,
    or their number.
    """
    found = [_names(subject, change) for subject in subjects]
    clusters = {name for names in found for name in names}
    # Several subjects that lose one cluster each: naming the number of clusters would mislead.
    each = len(clusters) > 1 and all(len(names) == 1 for names in found)
    return "a cluster" if each else _clusters(clusters)


def _clusters(names: Iterable[str]) -> str:
    """Return the name of a single cluster, or the number of several."""
    found = sorted(names)
    return found[0] if len(found) == 1 else count(len(found), "cluster")


def _named(subjects: Sequence[OfAFleet]) -> str:
    """Return the keys of a few subjects, or the number of many."""
    return " and ".join(map(_key, subjects)) if len(subjects) <= _MOST_NAMES else _counted(subjects)


def _key(subject: OfAFleet) -> str:
    """Return the key of a subject, after its fleet where a program has several."""
    return after_fleet(subject.of_fleet, subject.key)


def _counted(subjects: Sequence[OfAFleet]) -> str:
    templates = sum(subject.kind == "Template" for subject in subjects)
    return subjects_in_words(len(subjects) - templates, templates)
