"""The words of a plan, alike in every form for people."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from fleet_components.cli.document import Document

_NAMES_SHOWN = 5
_SUMMARY = {
    "joins": ("joins", "join"),
    "updated": ("is updated", "are updated"),
    "leaves": ("leaves", "leave"),
    "held": ("is held", "are held"),
    "stays": ("stays", "stay"),
}
_DOMAINS = re.compile(r"\b(kubernetes\.azure\.com|(resources\.)?kubernetes-fleet\.io)/")
_UNSEEN = "the old objects are encrypted in the state; with pulumi stack export --show-secrets their changes show too"
_COUNTS = {"create": "+ {} to create", "update": "~ {} to update", "delete": "- {} to delete", "same": "{} unchanged"}


def summary(document: Document) -> str:
    """``3 placements on 5 members: 9 join, 1 is held``."""
    placements = count(len(document["placements"]), "placement")
    return f"{placements} on {count(document['members'], 'member')}: {changes(document['totals'])}"


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


def show_scores(scores: Mapping[str, int] | None) -> str:
    """``14/-1``: affinity and topology spread; nothing when there is nothing to score."""
    return "" if not scores or not any(scores.values()) else f"{scores['affinity']}/{scores['topologySpread']}"


def why(cluster: Document) -> str:
    """Why something happens to a member, in one line, with properties by their short names."""
    return one_line(_DOMAINS.sub("", cluster["why"]))


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
    found: dict[str, list[str]] = {}
    shown, number = placement["notPicked"]["shown"], placement["notPicked"]["count"]
    for member in shown:
        found.setdefault(one_line(member["why"]), []).append(member["name"])
    lines = [f"{few(names)}: {why}" for why, names in found.items()]
    rest = number - len(shown)
    return [*lines, f"{rest} more: fleet explain tells why"] if rest else lines


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
