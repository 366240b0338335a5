"""Recordings that say something else than what was seen: each such change must show as a difference."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

from tests.delivery.recording import Differing, Seen, compared


def mutations(there: Seen, here: Seen) -> Iterator[Differing]:
    """What would differ if the recording said something else of one thing that is as it was seen.

    Args:
        there: what was seen.
        here: what stands now.
    """
    differing = {(item.name, item.field) for item in compared(there, here)}
    for name in there.keys() & here.keys():
        yield Differing(name, "", None, here[name])
        yield Differing(f"{name}-other", "", there[name], None)
        for field, value in there[name].items():
            if (name, field) not in differing:
                yield from (
                    Differing(name, field, other, here[name].get(field)) for other in changed(value)
                )


def changed(value: Any) -> Iterator[Any]:
    """Values like this one with one change each."""
    match value:
        case None:
            yield "changed"
        case bool():
            yield not value
        case int() | float():
            yield value + 1
        case str():
            yield f"{value} changed"
        case Mapping():
            yield {**value, "more": "changed"}
            yield from (
                {k: v for k, v in value.items() if k != key}
                for key in islice(value, len(value) > 1, None)
            )
            yield from (
                {**value, key: other} for key in value for other in islice(changed(value[key]), 1)
            )
        case list() | tuple():
            of = type(value)
            yield of([*value, "changed"])
            for index, item in enumerate(value):
                yield from (
                    of([*value[:index], other, *value[index + 1 :]])
                    for other in islice(changed(item), 1)
                )
