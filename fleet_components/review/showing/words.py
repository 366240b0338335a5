"""Texts about a plan that all views for people share."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from fleet_components.model.text import count, few
from fleet_components.plan.ways import NAMES
from fleet_components.review.documents.form import Document, after_fleet, is_narrow, title_of
from fleet_components.review.documents.headline import (
    REFUSED,
    gone_in_view,
    newly_left,
    refused_as,
    subjects_in_words,
)

_SUMMARY = {
    "joins": ("joins", "join"),
    "updated": ("is updated", "are updated"),
    "leaves": ("leaves", "leave"),
    "held": ("is held", "are held"),
    "stays": ("stays", "stay"),
}
_DOMAINS = re.compile(r"\b(kubernetes\.azure\.com|(resources\.)?kubernetes-fleet\.io)/")
_TOKEN = re.compile(r"fleet:confirm=(\w+)")
_HIDDEN_OVERRIDES = (
    "hidden in what the plan starts from; of a state, pulumi stack export --show-secrets shows it"
)
_HIDDEN = "Not compared, as the state or the configuration hides it"
_SHOWS = "pulumi stack export --show-secrets and the passphrase show them"
_COUNTS = {
    "create": "+ {} to create",
    "update": "~ {} to update",
    "replace": "+- {} to replace",
    "delete": "- {} to delete",
    "same": "{} unchanged",
}


def summary(document: Document) -> str:
    """Return a summary: ``3 placements and 1 template on 5 members: 9 join, 1 is held; 2 objects
    are deleted``.
    """
    subjects = subjects_in_words(document["placements"], document["templates"])
    placed = f"{subjects} on {count(document['members'], 'member')}: {changes(document['totals'])}"
    return "; ".join([placed, *_losses(document)])


def _losses(document: Document) -> Iterator[str]:
    """Yield what is lost, and whether the update is refused or leaves something to later ones.

    They end the summary, since the last line is what a reader of a long plan sees first.
    """
    gone = document["gone"]["subjects"]
    if gone:
        templates = sum(name.startswith("Template/") for name in gone)
        yield (
            f"{subjects_in_words(len(gone) - templates, templates)}"
            f" {'go' if len(gone) > 1 else 'goes'}"
        )
    deleted = sum(item["fate"] in ("deleted", "swept") for item in document["gone"]["objects"])
    if deleted:
        yield f"{count(deleted, 'object')} {'are' if deleted > 1 else 'is'} deleted"
    if document["refused"]:
        needed = f"{count(len(document['refused']), 'confirmation')} needed"
        yield "the update is refused" if refused_as(document) == REFUSED else needed
    elif left := newly_left(document):
        yield f"left: {left}"


def changes(totals: Mapping[str, int]) -> str:
    """Return the totals of changes in words: ``2 join, 1 leaves``."""
    happens = [
        f"{totals[word]} {forms[totals[word] != 1]}"
        for word, forms in _SUMMARY.items()
        if totals[word]
    ]
    return ", ".join(happens) or "nothing is placed"


def resource_counts(counts: Mapping[str, int]) -> str:
    """Return the number of changes in the words of ``pulumi preview``: ``+ 3 to create, 68
    unchanged``.
    """
    return (
        ", ".join(text.format(counts[change]) for change, text in _COUNTS.items() if counts[change])
        or "none"
    )


def uncompared(resources: Iterable[Document]) -> str:
    """Return what is not compared, because the state or the configuration hides it; empty if all
    is.
    """
    found = {
        resource["name"]: resource["uncompared"] for resource in resources if resource["uncompared"]
    }
    reaching = [name for name, fields in found.items() if "kubeconfig" in fields]
    others = sum(map(len, found.values())) - len(reaching)
    parts = [f"the kubeconfigs of {few(sorted(reaching))}"] if reaching else []
    parts += [count(others, "other value" if reaching else "value")] if others else []
    return f"{_HIDDEN}: {', '.join(parts)}; {_SHOWS}" if parts else ""


def headline(subject: Document) -> str:
    """Return the headline of a subject: ``PickN 3 of 5 members, 4 objects, revision 0->1``."""
    revision = (
        "new"
        if subject["revision"]["old"] is None
        else f"revision {show_revision(subject).replace(' ', '')}"
    )
    return f"{subject['policy']}, {count(subject['objects'], 'object')}, {revision}"


def show_revision(holder: Document, field: str = "revision") -> str:
    """Return an old and a new number as ``0 -> 1``; ``1`` if it stays, ``-> 1`` if it is new, ``1
    ->`` if it goes.
    """
    old, new = holder[field]["old"], holder[field]["new"]
    if old == new:
        return "" if new is None else str(new)
    return " -> ".join("" if number is None else str(number) for number in (old, new)).strip()


HEADER = ("member", "what", "wave", "replicas", "revision", "score")
"""Headers of the columns of :func:`rows`; the column of the reason follows them."""
_FOLDED = 4
"""Number of members alike from which on they share a row."""
_NAMED = 3


def rows(subject: Document, *, whole: bool) -> list[tuple[str, tuple[str, ...], str]]:
    """Return the rows of a subject's members, each as the change, the cells and the reason.

    Members with equal cells and an equal reason share a row: ``a, b, c and 57 more``; with
    ``whole`` none do.
    """
    alike: dict[tuple[tuple[str, ...], str], list[Document]] = defaultdict(list)
    for cluster in subject["clusters"]:
        alike[_cells(cluster), why(cluster)].append(cluster)
    found = []
    for (cells, reason), clusters in alike.items():
        names = [cluster["name"] for cluster in clusters]
        first = names if whole or len(names) < _FOLDED else [few(names, _NAMED)]
        found += [(clusters[0]["change"], (name, *cells), reason) for name in first]
    return found


def _cells(cluster: Document) -> tuple[str, ...]:
    """Return the cells of a member's row, except its name and the reason."""
    return (
        cluster["change"],
        "" if cluster["wave"] is None else str(cluster["wave"]),
        show_revision(cluster, "replicas"),
        show_revision(cluster),
        show_scores(cluster["scores"]),
    )


def show_scores(scores: Mapping[str, int] | None) -> str:
    """Return affinity and topology spread scores as ``14/-1``; ``0`` if both are 0, empty if there
    are none.
    """
    if not scores:
        return ""
    return f"{scores['affinity']}/{scores['topologySpread']}" if any(scores.values()) else "0"


def why(cluster: Document) -> str:
    """Return the reason for a member's change in one line, with the short names of properties."""
    return single_line(_DOMAINS.sub("", cluster["why"]))


def holders(subject: Document, *, whole: bool = True) -> list[str]:
    """Return what decides on a subject: plug-ins from outside, and each policy that selects a
    template, with why.

    With ``whole`` also policies that do not select it.
    """
    others = [
        policy for policy in subject["policies"] if whole or policy["wins"] or policy["matches"]
    ]
    return [
        *([subject["decidedBy"]] if subject["decidedBy"] else []),
        *(
            [f"forecast of the hub of {NAMES[way]}"]
            if (way := subject.get("delivery", "direct")) != "direct"
            else []
        ),
        *(
            f"{other['policy']} {'claims it' if other['wins'] else 'does not claim it'}:"
            f" {other['why']}"
            for other in others
        ),
        *(
            [f"{count(more, 'more policy')} of other objects"]
            if whole and (more := subject["otherPolicies"])
            else []
        ),
    ]


def update_run(subject: Document) -> list[str]:
    """Return the lines of the update run in force: each stage with its members; one line for a run
    that is over.
    """
    run = subject["updateRun"]
    if run is None or (run["outcome"] == "Failed" and not run["stages"]):
        return []
    what = f"update run {run['name']}"
    if run["outcome"] == "Succeeded" and not any(stage["moves"] for stage in run["stages"]):
        return [f"{what} is over: revision {run['revision']} in all of its stages"]
    if run["outcome"] == "Failed":
        return []
    return [f"{what} rolls out revision {run['revision']}", *run["words"]]


def overridden(subject: Document, *, diff: bool, whole: bool) -> Iterator[tuple[int, str]]:
    """Yield what overrides change on members, each line with its level.

    With ``diff`` all of it. Otherwise a line for members that join, and with ``whole`` for all:
    what changes on others is in the differences.
    """
    members: dict[str, list[str]] = defaultdict(list)
    joining = {cluster["name"] for cluster in subject["clusters"] if cluster["change"] == "joins"}
    for group in subject["overridden"]:
        if diff:
            yield 0, f"overridden on {few(group['members'])}:"
            yield from ((level + 1, line) for level, line in deviations(group["objects"]))
        elif whole or joining.intersection(group["members"]):
            members[f"{'' if group['moving'] else ', as before'}: {shortly(group['objects'])}"] += (
                group["members"]
            )
    for words, names in members.items():
        yield 0, f"overridden on {few(sorted(names))}{words}"


def deviations(objects: Sequence[Document] | None) -> Iterator[tuple[int, str]]:
    """Yield what overrides change on a member, field by field, each line with its level."""
    if objects is None:
        yield 0, _HIDDEN_OVERRIDES
    for item in objects or ():
        if item["deleted"]:
            yield 0, f"{item['object']}: deleted ({show_rule(item['deleted'])})"
        else:
            yield 0, f"{item['object']}:"
            yield from (
                (1, f"{show_field(field)} ({show_rule(field['by'])})") for field in item["fields"]
            )


def shortly(objects: Sequence[Document] | None) -> str:
    """Return the objects that overrides change on a member, each with the overrides, in one
    line.
    """
    return _HIDDEN_OVERRIDES if objects is None else ", ".join(map(_shortly, objects))


def _shortly(document: Document) -> str:
    rules = (
        [document["deleted"]]
        if document["deleted"]
        else [field["by"] for field in document["fields"]]
    )
    names = dict.fromkeys(rule["override"] for rule in rules)
    return f"{document['object']}{' deleted' if document['deleted'] else ''} by {few(list(names))}"


def show_rule(rule: Document) -> str:
    """Return a rule with the place where it is written: ``ResourceOverride shop/edge, rule [0],
    edge.yaml:12``.
    """
    return ", ".join(
        [rule["override"], f"rule [{rule['rule']}]", *([rule["source"]] if rule["source"] else [])]
    )


def refusals(document: Document) -> Iterator[str]:
    """Yield the reasons why the update is refused, or what has to be confirmed."""
    called = refused_as(document)
    for refusal in document["refused"]:
        where = (
            f"{refusal['file']}:{refusal['line']}"
            if refusal["line"] is not None
            else refusal["file"]
        )
        subject = refusal["subject"] and after_fleet(refusal["ofFleet"], refusal["subject"])
        parts = [part for part in (where, subject, refusal["field"], refusal["what"]) if part]
        yield f"{called}: {': '.join(parts)}" + (f" ({refusal['hint']})" if refusal["hint"] else "")


def _going(document: Document) -> Iterator[tuple[str, str]]:
    """Yield a line for each fate of the objects of subjects that go, as far as the view is about
    them.
    """
    view, gone = document["view"], {name for _, name in gone_in_view(document)}
    alike: dict[tuple[str, str, str], dict[str, None]] = defaultdict(dict)
    for item in document["gone"]["objects"]:
        if item["subject"] in gone and view["member"] in (None, item["member"]):
            to = f" to {item['to']}" if item["to"] else ""
            alike[item["subject"], item["member"], item["fate"] + to][item["object"]] = None
    for (subject, member, fate), objects in alike.items():
        yield _WEIGHTS["lost"], f"{few(list(objects))} of {subject} on {member}: {fate}"


def leaving(document: Document) -> Iterator[tuple[str, str]]:
    """Yield a line for everything that is lost, replaced or moved, losses first, each with its
    style.

    A narrow view tells it in the subjects that it shows, and of those that go here.
    """
    if is_narrow(document):
        yield from _going(document)
        return
    yield from ((_WEIGHTS[line["weight"]], line["text"]) for line in document["gone"]["summary"])


_WEIGHTS = {"lost": "red", "left": "yellow", "moved": ""}


def warnings(document: Document) -> Iterator[tuple[str, str]]:
    """Yield warnings and unfulfilled policies, each with its subject and its text.

    The subject is empty for warnings about the whole fleet, whose texts name what they are about.
    """
    for subject in document["subjects"]:
        title = title_of(subject)
        yield from ((title, text) for text in (*subject["unfulfilled"], *subject["warnings"]))
    yield from (("", text) for text in document["warnings"])
    yield from (("program", text) for text in _logged(document))


def is_about(subject: Document, text: str) -> bool:
    """Return whether a warning of a fleet names a subject, or the policy that has it."""
    claims = [policy["policy"] for policy in subject["policies"] if policy["wins"]]
    names = (subject["name"], f"{subject['kind']} {subject['key']}", *claims)
    return any(re.search(rf"(?<!\S){re.escape(name)}(?![\w/.-])", text) for name in names)


def warned(document: Document) -> int:
    """Return the number of warnings, those that a program logged included."""
    return len(_logged(document)) + int(document["warned"])


def _logged(document: Document) -> list[str]:
    """Return the warnings and errors that a program logged."""
    return [
        item["text"]
        for item in document.get("messages", ())
        if item["level"] in ("warning", "error")
    ]


def confirmation(document: Document) -> str:
    """Return how to allow all refused losses at once; empty unless there are several."""
    tokens = list(
        dict.fromkeys(refusal["token"] for refusal in document["refused"] if refusal["token"])
    )
    if "paths" in document["fleet"]:
        return _meant(tokens, " ".join(f"--confirm {token}" for token in tokens))
    return _meant(tokens, _configured(tokens))


def confirming(texts: Iterable[str]) -> str:
    """Return the same for errors, whose texts contain the tokens."""
    tokens = list(dict.fromkeys(token for text in texts for token in _TOKEN.findall(text)))
    return _meant(tokens, _configured(tokens))


def _configured(tokens: Sequence[str]) -> str:
    return f"pulumi config set fleet:confirm {','.join(tokens)}"


def _meant(tokens: Sequence[str], how: str) -> str:
    return f"if all of them are meant: {how}" if len(tokens) > 1 else ""


def waits(placement: Document) -> list[str]:
    """Return the lines of the rollout that the rows do not show: waits, and an update run that does
    not begin.
    """
    return [
        line
        for line in placement["rollout"]
        if "wait " in line or line.startswith("the update run")
    ]


def unseen(placement: Document) -> list[str]:
    """Return a note if the changes of the objects are unknown, because the old ones are
    encrypted.
    """
    return [placement["uncompared"]] if placement["uncompared"] else []


def not_picked(placement: Document) -> list[str]:
    """Return a line for each reason why members are not picked: ``a, b and 3 more: why``; none if
    none is shown.
    """
    shown, number = placement["notPicked"]["shown"], placement["notPicked"]["count"]
    rest = number - len(shown) if shown else 0
    return [*grouped(shown), *([f"{rest} more: fleet explain tells why"] if rest else [])]


def stays(subject: Document) -> list[str]:
    """Return the members on which a subject stays as it is, as far as they have no rows."""
    rows = {cluster["name"] for cluster in subject["clusters"]}
    return [name for name in subject["staying"] if name not in rows]


def grouped(members: Iterable[Document]) -> list[str]:
    """Return a line for each reason with its members, cut to a few: ``a, b and 3 more: why``."""
    found: dict[str, list[str]] = {}
    for member in members:
        found.setdefault(single_line(member["why"]), []).append(member["name"])
    return [f"{few(names)}: {why}" if why else few(names) for why, names in found.items()]


def show_field(field: Mapping[str, Any]) -> str:
    """Return a field with its old and its new value: ``spec.replicas: 3 -> 5``."""
    return f"{field['field']}: {show_value(field['old'])} -> {show_value(field['new'])}"


def show_value(value: Any) -> str:
    """Return a value in one line."""
    if value is None:
        return "(none)"
    return single_line(
        value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, sort_keys=True)
    )


def single_line(text: str) -> str:
    """Return the text in one line, with single spaces."""
    return " ".join(text.split())
