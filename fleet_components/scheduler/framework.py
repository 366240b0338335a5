"""Contracts of the scheduler plug-ins; the place to start reading.

A profile (``kubefleet/``, ``karmada/``) is an ordered list of plug-ins, with one plug-in per file.
A plug-in takes part at one or several extension points, in this order:

==============  ====================================================================
``PostBatch``   limits how many members one cycle may pick (KubeFleet only)
``PreFilter``   prepares its filter, or skips it
``Filter``      stops members that cannot be picked, each with a reason
``PreScore``    prepares its score, or skips it
``Score``       ranks the members that passed every filter
==============  ====================================================================

Plug-ins work on columns: a filter returns a mask over all members of the inventory, a score returns
a mask per number. The text for a single member is built only on request.

Source of the extension points: KubeFleet v0.3.1, ``pkg/scheduler/framework/interface.go``. Karmada
1.19 has Filter and Score (``pkg/scheduler/framework/interface.go``); here its plug-ins may use
PreFilter and PreScore as well.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import cached_property
from itertools import islice
from typing import ClassVar, Generic, Protocol, TypeVar

import attrs

from fleet_components.model.inventory import Inventory
from fleet_components.model.mask import Mask
from fleet_components.model.message import Message
from fleet_components.model.problem import FieldPath, FleetError, Problem
from fleet_components.scheduler.edit import Edits, Ladder, edit_words

KUBEFLEET, KARMADA = "kubefleet", "karmada"
"""Names of the profiles."""
PROFILES = (KUBEFLEET, KARMADA)
_FIELD = ("plugins",)
_MOST_REMEDIES = 3
"""Number of changes that a verdict names."""
AFFINITY = "affinity"
"""The part of a score that both profiles have."""


class State(Protocol):
    """Input of plug-ins for both profiles; a plug-in for one of them may use the state of its
    profile.
    """

    @property
    def inventory(self) -> Inventory:
        """The members."""

    @property
    def placed(self) -> Mask:
        """The members that have it already. A filter that lets them pass leaves their
        objects as they are.
        """


# Contravariant: a plug-in for every State also fits where a profile has a state of its own.
S_contra = TypeVar("S_contra", contravariant=True, bound=State)


class SchedulingError(Exception):
    """Failure of a whole scheduling cycle, as in the real scheduler; the previous decision stays in
    force.
    """


class Plugin(ABC):
    """Base of all plug-ins. A subclass also inherits from the extension points that it takes part
    at.

    Attributes:
        name: the name in explanations; unique in a profile.
        profiles: the profiles that a plug-in from outside is added to.
        counts_picks: whether its answer for a member depends on the members that are picked
            already. If so, explanations leave it out for a member that is itself picked.
        silent: whether reasons and explanations leave it out, because the bindings show what it
            says.
    """

    name: ClassVar[str]
    profiles: ClassVar[Collection[str]] = PROFILES
    counts_picks: ClassVar[bool] = False
    silent: ClassVar[bool] = False


class PostBatch(Plugin, Generic[S_contra]):
    """Plug-in that limits how many members one cycle may pick."""

    @abstractmethod
    def batch(self, state: S_contra, wanted: int) -> int:
        """Return how many of the wanted members this cycle may pick at most."""


class PreFilter(Plugin, Generic[S_contra]):
    """Plug-in that prepares its filter once in each cycle."""

    @abstractmethod
    def pre_filter(self, state: S_contra) -> bool:
        """Return whether the plug-in's filter runs in this cycle.

        Raises:
            SchedulingError: the policy or a member makes the whole cycle fail.
        """


class Filter(Plugin, Generic[S_contra]):
    """Plug-in that decides which members can be picked. ``S_contra`` is the state of one cycle."""

    @abstractmethod
    def mask(self, state: S_contra, candidates: Mask) -> Mask:
        """Return the candidates that pass; the candidates are the members that passed every earlier
        filter.

        Raises:
            SchedulingError: the policy or a member makes the whole cycle fail.
        """

    @abstractmethod
    def reason(self, state: S_contra, position: int) -> str:
        """Return why the member at this position does not pass, in the words of the real
        scheduler.
        """

    def remedy(self, state: S_contra, position: int) -> str:
        """Return what would let the member at this position pass: the changes of ``admitting``, or
        nothing.
        """
        return ", or ".join(
            # islice, because admitting() may be a generator that works for each change.
            map(edit_words, islice(self.admitting(state, position), _MOST_REMEDIES))
        )

    def admitting(self, state: S_contra, position: int) -> Iterable[Edits]:
        """Yield changes, each of which lets the member at this position pass; explanations try what
        comes of them.
        """
        return ()

    def stopping(self, state: S_contra, position: int) -> Iterable[Ladder]:
        """Yield changes that stop the member at this position, which passes; on each ladder surer
        and surer.
        """
        return ()


class PreScore(Plugin, Generic[S_contra]):
    """Plug-in that prepares its score once in each cycle that picks."""

    @abstractmethod
    def pre_score(self, state: S_contra) -> bool:
        """Return whether the plug-in's score counts in this cycle.

        Raises:
            SchedulingError: the policy or a member makes the whole cycle fail.
        """


class Score(Plugin, Generic[S_contra]):
    """Plug-in that ranks the members that can be picked.

    Attributes:
        part: the part of the score that it adds to. A profile compares the parts one after the
            other.
    """

    part: ClassVar[str] = AFFINITY

    @abstractmethod
    def scores(self, state: S_contra, candidates: Mask) -> Mapping[int, Mask]:
        """Return the candidates by score, each in one set; a candidate in no set has 0.

        Raises:
            SchedulingError: the policy or a member makes the whole cycle fail.
        """

    @abstractmethod
    def words(self, state: S_contra, position: int) -> str:
        """Explain how the score of the member at this position comes about."""

    def shares(self, state: S_contra, position: int) -> Mapping[str, int]:
        """Return the score of the member at this position by its source: the plug-in's name by
        default.
        """
        # A mask of this member alone.
        scores = self.scores(state, 1 << position)
        return {
            self.name: next(
                (score for score, members in scores.items() if members >> position & 1), 0
            )
        }

    def raising(self, state: S_contra, position: int) -> Iterable[Ladder]:
        """Yield changes that give the member at this position a higher score, on each ladder higher
        and higher.
        """
        return ()

    def lowering(self, state: S_contra, position: int) -> Iterable[Ladder]:
        """Yield changes that give the member at this position a lower score, on each ladder lower
        and lower.
        """
        return ()


POINTS: tuple[type[Plugin], ...] = (PostBatch, PreFilter, Filter, PreScore, Score)
"""The extension points, in the order in which a cycle reaches them."""


def problem_of(
    plugin: Plugin,
    what: Message,
    path: FieldPath = (),
    hint: str = "",
    file: str = "",
    line: int | None = None,
) -> Problem:
    """Return a problem of a plug-in."""
    return Problem(what, path, hint, f"plug-in {plugin.name}", file, line)


@attrs.frozen(slots=False)
class Profile:
    """Plug-ins of one scheduler, in the order in which they run.

    Attributes:
        name: ``kubefleet`` or ``karmada``.
        system: the real system that decides the same, with its version.
        plugins: the plug-ins.
        parts: the parts of a score, the most important one first.
    """

    name: str
    system: str
    plugins: tuple[Plugin, ...]
    parts: tuple[str, ...] = (AFFINITY,)

    def extended(self, plugins: Iterable[Plugin]) -> Profile:
        """Return the profile with the given plug-ins after its own, as far as they are meant for
        it.

        Raises:
            FleetError: a plug-in has a name that is in use, or adds to a part of the score that
                does not exist.
        """
        more = tuple(plugin for plugin in plugins if self.name in plugin.profiles)
        problems = list(self.refused(more))
        if problems:
            raise FleetError(problems)
        # The profile itself if nothing is added, so that its cached properties are computed once.
        return attrs.evolve(self, plugins=(*self.plugins, *more)) if more else self

    def refused(self, plugins: Iterable[Plugin]) -> Iterator[Problem]:
        """Yield why plug-ins cannot be added: their name is in use, or they add to an unknown part
        of the score.
        """
        taken = {plugin.name for plugin in self.plugins}
        for plugin in plugins:
            if plugin.name in taken:
                yield problem_of(
                    plugin,
                    Message("name-another-plug", "has the name of another plug-in"),
                    _FIELD,
                    "give it a name of its own",
                )
            if isinstance(plugin, Score) and plugin.part not in self.parts:
                known = ", ".join(self.parts)
                yield problem_of(
                    plugin,
                    Message("adds-to-part", 'adds to "{part}"', part=plugin.part),
                    _FIELD,
                    f"the parts of a score are: {known}",
                )
            # Two plug-ins from outside must not share a name either.
            taken.add(plugin.name)

    @cached_property
    def post_batches(self) -> tuple[PostBatch[State], ...]:
        """The plug-ins that limit a batch."""
        return tuple(plugin for plugin in self.plugins if isinstance(plugin, PostBatch))

    @cached_property
    def filters(self) -> tuple[Filter[State], ...]:
        """The filters."""
        return tuple(plugin for plugin in self.plugins if isinstance(plugin, Filter))

    @cached_property
    def scores(self) -> tuple[Score[State], ...]:
        """The scores."""
        return tuple(plugin for plugin in self.plugins if isinstance(plugin, Score))


@attrs.frozen
class Verdict:
    """Result of one plug-in for one member.

    Attributes:
        plugin: the plug-in's name.
        passed: whether a filter lets the member pass; None for a score.
        words: the reason, or how the score comes about.
        score: the score; None for a filter, or when it cannot be computed.
        remedy: what would make a filter pass; empty when it passes.
        part: the part of the member's score that it adds to; empty for a filter.
    """

    plugin: str
    passed: bool | None
    words: str
    score: int | None = None
    remedy: str = ""
    part: str = ""
