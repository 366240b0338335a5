"""Memory of the last render in a folder, beside the decisions: for whom it was, and how far a rollout is."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import attrs

from fleet_components.content.guarded import UnreadableError, read_json
from fleet_components.content.regular_file import read_regular
from fleet_components.model.codec import MisfitError, decode, encode, ranged
from fleet_components.model.problem import FleetError
from fleet_components.review.planning.past import RENDER_ANEW, StateFile, render_state, to_render
from fleet_components.review.rendering.gitops.layout import LastTree
from fleet_components.review.rendering.gitops.settings import GitopsSettings
from fleet_components.review.rendering.manifests import STATE

GITOPS, ROLLOUT = "gitops", "rollout"
"""Fields of the state of a render."""


@attrs.frozen
class UnfinishedRollout:
    """A rollout of which not all waves are rendered.

    Attributes:
        wave: the last wave that is rendered, from 1.
        waves: how many there are.
        goal: a digest of what it leads to.
        before: the state of the render that it begins with; None if it began with a file that was
            given.
    """

    wave: int = attrs.field(metadata=ranged(1))
    waves: int = attrs.field(metadata=ranged(1))
    goal: str
    before: Mapping[str, Any] | None = None


@attrs.frozen(kw_only=True)
class LastRender:
    """The last render in a folder.

    Attributes:
        settings: for which tool it was, and how that reads it; None for none.
        tree: the folders and steps of that tool.
        rollout: the rollout that it is in the middle of; None if it is in none.
        file: the file of its state.
    """

    settings: GitopsSettings | None = None
    tree: LastTree = LastTree()
    rollout: UnfinishedRollout | None = None
    file: str = ""

    @property
    def before(self) -> StateFile | None:
        """State with which the unfinished rollout begins; None if there is none, or if it was a
        given file.

        Raises:
            FleetError: it is damaged.
        """
        if self.rollout is None or self.rollout.before is None:
            return None
        return render_state(self.file, self.rollout.before)


def read_last(folder: Path) -> LastRender:
    """Read what a render has left in a folder; nothing if none has, or if its state cannot be read
    at all.

    Raises:
        FleetError: that is damaged.
    """
    file = folder / STATE
    try:
        data = read_json(read_regular(file))
    except (OSError, UnreadableError):
        return LastRender()
    kept: Mapping[str, Any] = data if isinstance(data, dict) else {}
    gitops, rollout = kept.get(GITOPS), kept.get(ROLLOUT)
    try:
        return LastRender(
            settings=GitopsSettings.of(gitops.get("settings"), str(file)) if isinstance(gitops, dict) else None,
            tree=decode(LastTree, gitops) if isinstance(gitops, dict) else LastTree(),
            rollout=None if rollout is None else decode(UnfinishedRollout, rollout),
            file=str(file),
        )
    except MisfitError as misfit:
        problems = [attrs.evolve(problem, file=str(file), hint=RENDER_ANEW) for problem in misfit.problems]
        raise FleetError(problems) from None


def remembered(settings: GitopsSettings | None, tree: LastTree, rollout: UnfinishedRollout | None) -> dict[str, Any]:
    """Return what the state of a render keeps beside the decisions."""
    gitops = {GITOPS: {"settings": settings.to_wire(), **encode(tree)}} if settings else {}
    return {**gitops, **({ROLLOUT: encode(rollout)} if rollout else {})}


def kept(state: StateFile, stack: str) -> dict[str, Any]:
    """Return a state of a render as it is kept while a rollout goes on from it."""
    return to_render(stack, list(state.state.resources.values()))
