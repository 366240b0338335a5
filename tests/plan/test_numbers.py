"""Numbers that no field can hold are refused or read at once, wherever they stand; nothing counts up to them."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pytest

from fleet_components.model.problem import FieldPath, FleetError
from tests.fields import karmada, kubefleet
from tests.fields.seen import Step, seen

pytestmark = pytest.mark.long

FAR = {
    "float": 1e300,
    "64 bits": 2**63 - 1,
    "digits": "9" * 5000,
    "hours": "9" * 300 + "h",
    "negative": -1,
}


def _numbers(value: Any, path: FieldPath = ()) -> Iterator[FieldPath]:
    """The paths of all numbers, and of the texts that begin with a digit."""
    if isinstance(value, dict | list):
        for key, item in value.items() if isinstance(value, dict) else enumerate(value):
            yield from _numbers(item, (*path, key))
    elif (isinstance(value, int | float) and not isinstance(value, bool)) or str(value)[
        :1
    ].isdigit():
        yield path


def _places() -> Iterator[tuple[list[Step], int, FieldPath]]:
    """Each field with a number once: the updates of a situation, the object in the last of them, and the path."""
    known = set()
    for steps in (*kubefleet.SITUATIONS.values(), *karmada.SITUATIONS.values()):
        for index, data in enumerate(steps[-1].objects):
            for path in _numbers(dict(data)):
                shape = (data["kind"], *("[]" if isinstance(step, int) else step for step in path))
                if shape not in known:
                    known.add(shape)
                    yield steps, index, path


def _with(steps: list[Step], index: int, path: FieldPath, value: Any) -> list[Step]:
    *before, last = steps
    objects = copy.deepcopy(list(last.objects))
    holder: Any = objects[index]
    for step in path[:-1]:
        holder = holder[step]
    holder[path[-1]] = value
    return [*before, Step(objects=objects, as_of=last.as_of, approvals=last.approvals)]


@pytest.mark.parametrize("far", FAR)
def test_a_number_out_of_range_is_refused_or_read(far: str) -> None:
    for steps, index, path in _places():
        with suppress(FleetError):
            seen(_with(steps, index, path, FAR[far]))
