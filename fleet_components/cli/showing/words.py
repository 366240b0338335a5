"""The words of a plan, alike in every form for people."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from fleet_components.cli.documents.form import Document

_NAMES_SHOWN = 5
_SUMMARY = {
    "joins": ("joins", "join"),
    "updated": ("is updated", "are updated"),
    "leaves": ("leaves", "leave"),
    "held": ("is held", "are held"),
    "stays": ("stays", "stay"),
}
_DOMAINS = re.compile(r"\b(kubernetes\.azure\.com|(resources\.)?kubernetes-fleet\.io)/")
_TOKEN = re.compile(r"fleet:confirm=(\w+)")
_UNSEEN = "the old objects are encrypted in the state; with pulumi stack export --show-secrets their changes show too"
_COUNTS = {"create": "+ {} to create", "update": "~ {} to update", "delete": "- {} to delete", "same": "{} unchanged"}


def summary(document: Document) -> str:
    """``3 placements and 1 template on 5 members: 9 join, 1 is held``."""
    placements, templates = document["placements"], document.get("templates", ())
    parts = [count(len(templates), "template")] if templates else []
    if placements or not templates:
        parts.insert(0, count(len(placements), "placement"))
    return f"{' and '.join(parts)} on {count(document['members'], 'member')}: {changes(document['totals'])}"


def changes(totals: Mapping[str, int]) -> str:
    """``2 join, 1 leaves``."""
    happens = [f"{totals[word]} {forms[totals[word] != 1]}" for word, forms in _SUMMARY.items() if totals[word]]
    return ", ".join(happens) or "nothing is placed"


def resource_counts(counts: Mapping[str, int]) -> str:
    """``+ 3 to create, 68 unchanged``, in the words of ``pulumi preview``."""
    return ", ".join(text.format(counts[change]) for change, text in _COUNTS.items() if counts[change]) or "none"


def headline(placement: Document) -> str:
    """``PickN 3 of 5 members, 4 objects, revision 0->1``."""
    revision = (
        "new"
        if placement["revision"]["old"] is None
        else f"revision {show_revision(placement['revision']).replace(' ', '')}"
    )
    return f"{placement['policy']}, {count(placement['objects'], 'object')}, {revision}"


def show_revision(revision: Mapping[str, int | None]) -> str:
    """``0 -> 1``, ``1`` when it stays, ``-> 1`` for what is new and ``1 ->`` for what goes."""
    old, new = revision["old"], revision["new"]
    if old == new:
        return "" if new is None else str(new)
    return " -> ".join("" if number is None else str(number) for number in (old, new)).strip()


def cells(cluster: Document) -> tuple[str, ...]:
    """What a row says of a cluster of a placement, but for the reason: name, change, wave, revision and scores."""
    return (
        cluster["name"],
        cluster["change"],
        "" if cluster["wave"] is None else str(cluster["wave"]),
        show_revision(cluster["revision"]),
        show_scores(cluster["scores"]),
    )


def show_scores(scores: Mapping[str, int] | None) -> str:
    """``14/-1``: affinity and topology spread; ``0`` when both are 0, nothing when there is nothing to score."""
    if not scores:
        return ""
    return f"{scores['affinity']}/{scores['topologySpread']}" if any(scores.values()) else "0"


def why(cluster: Document) -> str:
    """Why something happens to a member, in one line, with properties by their short names."""
    return one_line(_DOMAINS.sub("", cluster["why"]))


def holders(template: Document) -> list[str]:
    """Which policies match a template, and why each has it or has it not."""
    return [
        f"{one['policy']} {'has it' if one['wins'] else 'has it not'}: {one['why']}" for one in template["policies"]
    ]


def template_notes(template: Document) -> Iterator[tuple[str, str]]:
    """What there is to say of a template beyond the rows, a line each, with its style."""
    if template["failure"]:
        yield "red", f"not fulfilled: {template['failure']}"
    yield from (("yellow", hint) for hint in template["hints"])
    yield from (("", line) for line in template["division"])
    yield from (("", f"{one['name']}: {one['why']}") for one in template["due"])
    yield from [("yellow", template["left"])] if template["left"] else []
    yield from (("yellow", f"warning: {warning}") for warning in template["warnings"])
    yield from (("dim", f"not picked: {line}") for line in grouped(template["notPicked"]))


def warnings(document: Document) -> Iterator[tuple[str, str]]:
    """What is not as it was asked for, and what may surprise: the name of the placement or template, and the text."""
    for one in document["placements"]:
        yield from ((f"{one['kind']} {one['key']}", text) for text in (*unfulfilled(one), *one["warnings"]))
    for one in document.get("templates", ()):
        failed = [one["failure"]] if one["failure"] else []
        yield from ((f"Template {one['key']}", text) for text in (*failed, *one["hints"], *one["warnings"]))


def confirmation(document: Document) -> str:
    """How all losses that would be refused are allowed at once; empty when there are not several."""
    return confirming(text for _, text in warnings(document))


def confirming(texts: Iterable[str]) -> str:
    """The command that allows all refused losses at once that texts tell the token of; empty for one or none."""
    tokens = dict.fromkeys(token for text in texts for token in _TOKEN.findall(text))
    command = f"pulumi config set fleet:confirm {','.join(tokens)}"
    return f"if all of them are meant: {command}" if len(tokens) > 1 else ""


def unfulfilled(placement: Document) -> list[str]:
    """Why the policy is not fulfilled."""
    return [c["message"] for c in placement["status"]["conditions"] if c["status"] != "True"]


def waits(placement: Document) -> list[str]:
    """What the rollout says beyond the rows: waits, and an update run that does not begin."""
    return [line for line in placement["rollout"] if "wait " in line or line.startswith("the update run")]


def unseen(placement: Document) -> list[str]:
    """That nobody can tell what changes in the objects, where that is so."""
    return [_UNSEEN] if placement["content"] is None else []


def not_picked(placement: Document) -> list[str]:
    """``a, b and 3 more: why``, a line a reason."""
    shown, number = placement["notPicked"]["shown"], placement["notPicked"]["count"]
    rest = number - len(shown)
    return [*grouped(shown), *([f"{rest} more: fleet explain tells why"] if rest else [])]


def grouped(members: Iterable[Document]) -> list[str]:
    """Members of one reason in one line, as far as they fit: ``a, b and 3 more: why``."""
    found: dict[str, list[str]] = {}
    for member in members:
        found.setdefault(one_line(member["why"]), []).append(member["name"])
    return [f"{few(names)}: {why}" for why, names in found.items()]


def few(names: list[str]) -> str:
    """``a, b and 3 more``."""
    more = len(names) - _NAMES_SHOWN
    return ", ".join(names[:_NAMES_SHOWN]) + (f" and {more} more" if more > 0 else "")


def show_field(field: Mapping[str, Any]) -> str:
    """``spec.replicas: 3 -> 5``."""
    return f"{field['field']}: {show_value(field['old'])} -> {show_value(field['new'])}"


def show_value(value: Any) -> str:
    """A value in one line."""
    if value is None:
        return "(none)"
    return one_line(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, sort_keys=True))


def one_line(text: str) -> str:
    """The text without line ends."""
    return " ".join(text.split())


def count(number: int, noun: str) -> str:
    """``1 object``, ``2 objects``."""
    return f"{number} {noun}{'' if number == 1 else 's'}"
