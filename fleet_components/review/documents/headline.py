"""Headline of a plan: three lines that tell a reviewer what happens, what is lost, and what the plan starts from."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from fleet_components.model.text import count, few
from fleet_components.review.documents.form import Document

_IMAGE = re.compile(r"(^|\.)image$")
_REPLICAS = re.compile(r"(^|\.)(replicas|parallelism|completions)$")
_MOST_NAMES = 2


def headline(document: Document) -> list[str]:
    """Return the three lines of a plan's document, whose other keys are filled."""
    return [_what_happens(document), _what_is_lost(document), _what_it_starts_from(document)]


def subjects_in_words(placements: int, templates: int) -> str:
    """Return the number of subjects in words: ``3 placements and 1 template``."""
    parts = [count(placements, "placement")] if placements or not templates else []
    return " and ".join([*parts, *([count(templates, "template")] if templates else [])])


def _what_happens(document: Document) -> str:
    """Return the first line: ``2 placements lose a cluster, 1 is not fulfilled, nothing else changes``."""
    subjects = document["subjects"]
    parts = [*_gone(document), *_losing(subjects), *_unfulfilled(subjects), *_gaining(subjects), *_updated(subjects)]
    parts += [*_held(subjects), *_recorded(subjects)]
    refused = "refused: " if document["refused"] else ""
    if member := document["view"]["member"]:
        rest = f"nothing else changes on {member}" if parts else f"nothing changes on {member}"
        return refused + ", ".join([*parts, rest])
    if left := document["leftOut"]:
        rest = f"{subjects_in_words(left, 0)} that {'change' if left > 1 else 'changes'} not shown"
        return refused + ", ".join([*(parts or ["nothing changes here"]), rest])
    if not parts:
        return refused + ("no placement changes" if document["changes"] else "nothing changes")
    return refused + ", ".join([*parts, "nothing else changes"])


def _what_is_lost(document: Document) -> str:
    """Return the second line: whether the update is refused, else which objects are deleted or replaced."""
    if refused := document["refused"]:
        return f"the update is refused, for {count(len(refused), 'reason')} below"
    fates: dict[str, list[str]] = defaultdict(list)
    for one in document["gone"]["objects"]:
        fates[_FATES[one["fate"]]].append(one["member"])
    fates["replaced"] += [one["member"] for one in document["replaced"]]
    lost = [_fate(fate, fates[fate]) for fate in _LOST if fates.get(fate)]
    left = document["remaining"]["words"]
    return ", ".join(lost or ["no object is deleted or replaced"]) + (f"; left: {left}" if left else "")


def _fate(fate: str, members: Sequence[str]) -> str:
    """Return how many objects meet a fate, and where: ``3 objects are deleted on a and b``."""
    return f"{count(len(members), 'object is', 'objects are')} {fate} on {few(sorted(set(members)), 3)}"


_FATES = {
    "deleted": "deleted",
    "swept": "deleted",
    "undone": "deleted",
    "forgotten": "forgotten",
    "kept": "kept and no longer managed",
    "moved": "moved",
}
_LOST = ("deleted", "replaced", "forgotten", "kept and no longer managed")


def _what_it_starts_from(document: Document) -> str:
    """Return the third line: what is compared with, and how much stays as it is."""
    start = document["against"] or (f"the state {document['state']}" if document["state"] else "nothing, a new fleet")
    same = document["unchanged"]
    of = [f"{same[noun]} of {count(document[noun], noun[:-1])}" for noun in same if document[noun]]
    parts = [f"compared with {start}: unchanged are {few(of, 3)}"] if of else [f"compared with {start}"]
    unsure = sum(one["unsure"] is not None for one in document["subjects"])
    parts += [f"{count(unsure, 'decision')} could be another with the state that is in force"] if unsure else []
    parts += [count(document["warned"], "warning")] if document["warned"] else []
    return "; ".join(parts)


def _gone(document: Document) -> Iterator[str]:
    keys = [name.partition("/")[2] for name in document["gone"]["subjects"]]
    if keys:
        yield f"{_named(keys)} {'goes' if len(keys) == 1 else 'go'}"
    if members := document["gone"]["members"]:
        yield f"{_named(members, 'member')} {'leaves' if len(members) == 1 else 'leave'} the fleet"


def _losing(subjects: Iterable[Document]) -> Iterator[str]:
    """Yield which subjects lose clusters; one that loses a single cluster and gains one moves."""
    losing = [(one["key"], _names(one, "leaves"), _names(one, "joins")) for one in subjects if _names(one, "leaves")]
    moving = [one for one in losing if len(one[1]) == len(one[2]) == 1]
    losing = [one for one in losing if one not in moving]
    if moving and len(moving) <= _MOST_NAMES:
        yield from (f"{key} moves from {old[0]} to {new[0]}" for key, old, new in moving)
    elif moving:
        yield f"{count(len(moving), 'placement')} move from one cluster to another"
    if losing:
        verb = "loses" if len(losing) == 1 else "lose"
        yield f"{_named([key for key, _, _ in losing])} {verb} {_lost(losing)}"


def _lost(losing: Sequence[tuple[str, list[str], list[str]]]) -> str:
    if len(losing) == 1:
        return _clusters(losing[0][1])
    numbers = {len(old) for _, old, _ in losing}
    return "a cluster" if numbers == {1} else f"{count(sum(len(old) for _, old, _ in losing), 'cluster')} altogether"


def _unfulfilled(subjects: Iterable[Document]) -> Iterator[str]:
    if keys := [one["key"] for one in subjects if one["unfulfilled"]]:
        yield f"{_named(keys)} {'is' if len(keys) == 1 else 'are'} not fulfilled"


def _gaining(subjects: Iterable[Document]) -> Iterator[str]:
    """Yield which subjects come to clusters: new ones, and those that gain without having moved."""
    joining = [(one, _names(one, "joins"), _names(one, "leaves")) for one in subjects]
    gaining = [(one, new) for one, new, old in joining if new and not len(new) == len(old) == 1]
    fresh = [(one["key"], new) for one, new in gaining if one["revision"]["old"] is None]
    more = [(one["key"], new) for one, new in gaining if one["revision"]["old"] is not None]
    if len(fresh) == 1:
        yield f"{fresh[0][0]} is new on {_clusters(fresh[0][1])}"
    elif fresh:
        yield f"{count(len(fresh), 'new placement')} on {_clusters({name for _, new in fresh for name in new})}"
    if len(more) == 1:
        yield f"{more[0][0]} gains {_clusters(more[0][1])}"
    elif more:
        yield f"{_named([key for key, _ in more])} gain {_clusters({name for _, new in more for name in new})}"


def _updated(subjects: Iterable[Document]) -> Iterator[str]:
    """Yield which clusters get something new of which subjects: ``5 clusters get a new image of shop in 3 waves``."""
    by_words: dict[str, list[Document]] = defaultdict(list)
    for one in subjects:
        if _names(one, "updated"):
            by_words[_novelty(one)].append(one)
    for words, found in by_words.items():
        clusters = {name for one in found for name in _names(one, "updated")}
        waves = max(len({each["wave"] for each in one["clusters"] if each["change"] == "updated"}) for one in found)
        get = "gets" if len(clusters) == 1 else "get"
        of = _named([one["key"] for one in found])
        yield f"{_clusters(clusters)} {get} {words} of {of}" + (f" in {count(waves, 'wave')}" if waves > 1 else "")


def _novelty(subject: Document) -> str:
    """Return what is new about the objects of a subject that members are updated with."""
    changes = [one for one in subject["content"] or () if not one.get("later")]
    fields = [field["field"] for one in changes for field in one["fields"]]
    if any(one["change"] != "update" for one in changes):
        return "other objects"
    if fields and all(map(_IMAGE.search, fields)):
        return "a new image"
    replicas = any(each["replicas"]["old"] != each["replicas"]["new"] for each in subject["clusters"])
    if (fields or replicas) and all(map(_REPLICAS.search, fields)):
        return "another number of replicas"
    if subject["content"] == [] and not subject["overridden"]:
        return "the same once more"
    return "new content"


def _held(subjects: Iterable[Document]) -> Iterator[str]:
    held = [(one["key"], _names(one, "held")) for one in subjects if _names(one, "held")]
    if len(held) == 1:
        yield f"{held[0][0]} is held on {_clusters(held[0][1])}"
    elif held:
        clusters = {name for _, names in held for name in names}
        yield f"{_named([key for key, _ in held])} are held on {_clusters(clusters)}"


def _recorded(subjects: Iterable[Document]) -> Iterator[str]:
    if keys := [one["key"] for one in subjects if one["weight"] == "recorded"]:
        yield f"what is remembered of {_named(keys)} changes and moves nothing"


def _names(subject: Document, change: str) -> list[str]:
    return [one["name"] for one in subject["clusters"] if one["change"] == change]


def _clusters(names: Iterable[str]) -> str:
    """Return the name of a single cluster, or the number of several."""
    found = sorted(names)
    return found[0] if len(found) == 1 else count(len(found), "cluster")


def _named(names: Sequence[str], noun: str = "placement") -> str:
    """Return a few names, or the number of many."""
    return " and ".join(names) if len(names) <= _MOST_NAMES else count(len(names), noun)
