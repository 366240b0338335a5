"""Recordings of running hubs: what a user did step by step, and what was seen after each step."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from functools import cached_property
from typing import Any, ClassVar, Generic, Self, TypeVar

import attrs

from fleet_components.model.releases import Releases
from tests.vectors import Content, releases_of, vectors

NOW = datetime(2026, 1, 1, tzinfo=UTC)
"""The time of all updates."""
Data = Mapping[str, Any]
Key = tuple[str, ...]
Objects = dict[Key, dict[str, Any]]
"""What the user has written, by kind and name."""
Seen = Mapping[str, Data]
"""Fields by the name of what was seen."""


@attrs.frozen(eq=False)
class Step:
    """One step.

    Attributes:
        number: its place, from 0.
        data: all that was recorded of it.
    """

    number: int
    data: Data

    @property
    def after(self) -> Data:
        """What was seen when nothing moved any more."""
        seen: Data = self.data["after"]
        return seen


S = TypeVar("S", bound=Step)


@attrs.frozen(slots=False)
class Recording(ABC, Generic[S]):
    """One recording.

    Attributes:
        name: the name of its file.
        data: the whole of it.
        folder: the folder of all recordings of the system.
    """

    folder: ClassVar[str]
    name: str
    data: Data

    @classmethod
    def kept(cls, name: str) -> Self:
        """Read one that this repository keeps."""
        return cls.of(name, lambda name: vectors(f"{cls.folder}/{name}"))

    @classmethod
    def of(cls, name: str, content: Content) -> Self:
        """Read it with what gives the content of the files of its folder, by name."""
        return cls(name, content(name))

    @property
    def releases(self) -> Releases:
        """The releases by whose rules it is replayed: of its system the one that it was measured on."""
        return releases_of(self.data.get("release", ""))

    @cached_property
    @abstractmethod
    def steps(self) -> tuple[S, ...]:
        """The steps in order."""

    @abstractmethod
    def change(self, objects: Objects, step: S) -> None:
        """Write what the user wrote in a step."""

    @abstractmethod
    def refused(self, objects: Objects, step: S) -> Mapping[Key, tuple[str, ...]]:
        """What the hub refused of what stands written after a step, with the reasons that it gave."""

    def broken(self, objects: Objects, step: S) -> Mapping[Key, tuple[str, ...]]:
        """What the hub took and could not carry out, with the reasons that it gave then."""
        return {}

    @abstractmethod
    def documents(self, objects: Objects, step: S) -> list[Data]:
        """All that a fleet is made of after a step: members, settings and what the user has written."""


def ours(kind: str, spec: Data) -> Data:
    """A document of our own."""
    return {
        "apiVersion": "fleet-components/v1",
        "kind": kind,
        "metadata": {"name": "it"},
        "spec": spec,
    }


def mixed(there: Any, here: Any, hand: Any, *kept: Any) -> bool:
    """Whether a value that was seen, or each part of it, is ours, one that somebody has written, or as it was before.

    Args:
        there: the value in the recording.
        here: ours.
        hand: what somebody has written; a part that was taken away is None there.
        kept: the values that were seen before.
    """
    if not isinstance(there, Mapping):
        return there in (hand, *kept)
    here, hand = here or {}, hand or {}
    return all(
        there.get(key) == here.get(key)
        or (key in hand and there.get(key) == hand[key])
        or any(there.get(key) == item.get(key) for item in kept)
        for key in there.keys() | here.keys()
    )


@attrs.frozen
class Differing:
    """What was seen in one place and not in the other, or otherwise.

    Attributes:
        name: what was seen.
        field: the field of it; empty if only one place has it at all.
        there: its value in the recording; None if it is not there.
        here: its value here; None if it is not here.
    """

    name: str
    field: str
    there: Any
    here: Any

    def __str__(self) -> str:
        if self.field:
            return f"{self.name}: {self.field} {self.there!r}, here {self.here!r}"
        return f"{self.name}: only {'here' if self.there is None else 'there'}"


def compared(there: Seen, here: Seen) -> Iterator[Differing]:
    """What differs. Of what was seen in both places only the fields that were seen there count."""
    for name in sorted({*there, *here}):
        if name not in here or name not in there:
            yield Differing(name, "", there.get(name), here.get(name))
            continue
        for field, value in there[name].items():
            ours = here[name].get(field)
            if value != ours and (value or ours):
                yield Differing(name, field, value, ours)
