"""What was asked for in vain, and the words for what there is instead: alike for members and for objects."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import NamedTuple

from fleet_components.model.manifest import Manifest
from fleet_components.model.problem import FieldPath, Problem
from fleet_components.model.selector import Labels, LabelSelector, Requirement
from fleet_components.model.text import count, few, nearest

_VALUES_SHOWN = 10
_NEAR = 0.6
"""Names are short: two letters that changed places must do."""


class Vain(NamedTuple):
    """What was asked for in vain.

    Attributes:
        path: the field.
        what: what there is not.
        hint: what was probably meant, and what there is.
    """

    path: FieldPath
    what: str
    hint: str = ""


def problems_of(manifest: Manifest, found: Iterable[Vain]) -> Iterator[Problem]:
    """Each with the file and the line of the object that asks for it."""
    return (manifest.problem(one.what, one.path, one.hint) for one in found)


def located(path: FieldPath, selector: LabelSelector) -> Iterator[tuple[FieldPath, Requirement]]:
    """The requirements of a selector, each with its own field."""
    equal, expressions = selector.requirements()[: len(selector.match_labels)], selector.match_expressions
    yield from (((*path, "matchLabels", one.key), one) for one in equal)
    yield from (((*path, "matchExpressions", index), one) for index, one in enumerate(expressions))


def meant(word: str, known: Iterable[str], there_is: str) -> str:
    """``did you mean "web"? there is: db, web``.

    Args:
        word: what was written.
        known: what there is.
        there_is: how that begins, as ``there is``.
    """
    names = sorted(set(known))
    near = near_name(word, names)
    return " ".join([*([f'did you mean "{near}"?'] if near else []), f"{there_is}: {few(names) or 'none'}"])


def near_name(word: str, known: Iterable[str]) -> str:
    """The name that was probably meant: the nearest one, or the only one of which the word is a part; else nothing."""
    names = set(known)
    parts = [name for name in names if word.casefold() in name.casefold()]
    return nearest(word, names, _NEAR) or (parts[0] if word and len(parts) == 1 else "")


def values_of_label(key: str, labels: Collection[Labels], whose: str = "the members") -> str:
    """What they have for a label, the most frequent first; or that they do not have it."""
    if any(key in one for one in labels):
        return values(key, [one[key] for one in labels if key in one], whose)
    near = nearest(key, {known for one in labels for known in one}, _NEAR)
    return f"the label {key} is on none of them" + (f"; did you mean {near}?" if near else "")


def values(key: str, found: Sequence[str], whose: str = "the members") -> str:
    """``for region the members have europe (2), america (1)``."""
    ordered = sorted(Counter(found).items(), key=lambda item: (-item[1], item[0]))
    shown = [f"{value} ({number})" for value, number in ordered[:_VALUES_SHOWN]]
    more = len(ordered) - _VALUES_SHOWN
    return f"for {key} {whose} have {', '.join(shown)}" + (f" and {count(more, 'more value')}" if more > 0 else "")
