"""Show without a trial that parts of overrides have an effect: those that alone write a field.

A trial of each of many operations on one object would take time that grows as their square.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence

from fleet_components.content.overridden import Overridden
from fleet_components.content.override_parts import Part
from fleet_components.model.manifest import Manifest, value_at
from fleet_components.plan.trial import Trial


def lone(parts: Iterable[Part]) -> list[Part]:
    """Return the parts that write a field which no other part writes, nor what is above or below it.

    Args:
        parts: all parts of the overrides that may concern an object.
    """
    leaves = [part for part in parts if not part.parts]
    written = Counter(leaf.field for leaf in leaves)
    above = {field[:length] for field in written for length in range(len(field))}
    return [leaf for leaf in leaves if leaf.field and _is_lone(leaf.field, written, above)]


def _is_lone(field: tuple[str, ...], written: Counter[tuple[str, ...]], above: Collection[tuple[str, ...]]) -> bool:
    """Return whether a field is written once. Items of lists move, so that none of them counts."""
    in_list = any(step == "-" or step.lstrip("+-").isdecimal() for step in field)
    return not in_list and written[field] == 1 and field not in above and not _has_above(field, written)


def _has_above(field: tuple[str, ...], written: Counter[tuple[str, ...]]) -> bool:
    return any(field[:length] in written for length in range(len(field)))


def effective(trial: Trial, results: Sequence[Overridden], alone: Iterable[Part]) -> Iterator[Part]:
    """Yield those of the parts that alone write a field which members get in another form by them.

    Without such a part the field would be as before all overrides, or a rule would fail.
    """
    forms = []
    for result in results:
        rules = {(step.override, step.rule) for step in result.steps}
        for before in (step.before for step in result.steps[:1]):
            old, new = trial.emitted([Overridden(before)]), trial.emitted([result])
            if [Manifest(data).key for data in old] == [Manifest(data).key for data in new] == [Manifest(before).key]:
                forms.append((rules, old[0], new[0]))
    for part in alone:
        here = ((old, new) for rules, old, new in forms if (part.override, part.rule) in rules)
        if any(value_at(old, part.field) != value_at(new, part.field) for old, new in here):
            yield part
