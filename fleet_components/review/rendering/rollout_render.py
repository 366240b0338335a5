"""A render that goes wave by wave: which plan it belongs to, how far it is, and what the next wave
changes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs

from fleet_components.content.guarded import UnreadableError, read_json
from fleet_components.content.paths import read_regular
from fleet_components.model.codec import MisfitError, decode, encode, ranged
from fleet_components.model.message import Message
from fleet_components.model.problem import FleetError, Problem
from fleet_components.model.text import count, few
from fleet_components.plan.fleet_plan import FleetPlan
from fleet_components.plan.waves import PlanPart, PlanWave, goal_of, waves_of
from fleet_components.review.planning.past import RENDER_ANEW, StateFile, render_state, to_render
from fleet_components.review.planning.survey import CommandLine, Survey, survey
from fleet_components.review.rendering.gitops.layout import GitopsLayout, LastTree
from fleet_components.review.rendering.gitops.settings import GitopsSettings
from fleet_components.review.rendering.manifests import STATE, Files, rendered

_MOST = 10


@attrs.frozen
class RolloutRender:
    """A rollout on its way through renders.

    Attributes:
        surveyed: the plan of the whole rollout.
        last: the last render.
        state: the state that the rollout begins with.
        given: whether that is a file that was given.
        reached: the wave up to which the last render went; 0 if a rollout begins.
    """

    surveyed: Survey
    last: LastRender
    state: StateFile
    given: bool
    reached: int

    @classmethod
    def on(
        cls,
        paths: Sequence[Path],
        command: CommandLine,
        last: LastRender,
        *,
        given: bool,
        fresh: bool,
        by_wave: bool,
    ) -> RolloutRender:
        """Plan what is rendered: the rest of an unfinished rollout if it still leads to the same,
        else a new one.

        Args:
            paths: what is planned.
            command: the options; their state is the last render, unless another one is given.
            last: the last render.
            given: whether the state was given.
            fresh: whether the last render is forgotten.
            by_wave: whether it goes wave by wave; without that, all that is left comes at once.

        Raises:
            FleetError: the input is invalid, or has no fleet or several.
        """
        if by_wave and last.rollout and not fresh:
            # The plan of the whole rollout starts from where that began, not from the last wave.
            before = command.state if given else last.before
            if before is not None:
                found = survey(paths, attrs.evolve(command, state=before))
                # If anything else has changed since, what is left of that rollout leads elsewhere.
                if goal_of(_only(found)) == last.rollout.goal:
                    return cls(found, last, before, given, last.rollout.wave)
        return cls(survey(paths, command), last, command.state, given, 0)

    @property
    def plan(self) -> FleetPlan:
        """The plan of the whole rollout.

        Raises:
            FleetError: there is no fleet, or there are several.
        """
        return _only(self.surveyed)

    @property
    def waves(self) -> tuple[PlanWave, ...]:
        """The waves of the whole rollout."""
        return waves_of(self.plan)

    @property
    def start(self) -> str:
        """The file that the plan starts from; empty for a new fleet."""
        return self.state.file

    def rendered(
        self, stack: str, settings: GitopsSettings | None, wave: int | None, *, show_secrets: bool
    ) -> Files:
        """Return the files of the folder.

        Args:
            stack: name of the folder of the stack.
            settings: for which tool they are, and how that reads them; None for none.
            wave: the wave to render up to; None for the whole plan.
            show_secrets: True to write the data of Secrets.

        Raises:
            FleetError: there is no such wave, its turn has not come, or something cannot be
                rendered.
        """
        plan = self.plan
        # Without a tool and a number nobody asks for waves, and counting them takes time.
        waves = () if wave is None and settings is None else self.waves
        if wave is not None and waves:
            self._check(wave)
        part = PlanPart(plan, plan) if wave is None else PlanPart.up_to(plan, wave)
        # A tool brings this wave only: members of earlier ones do not move again.
        brought = waves if wave is None else waves[wave - 1 : wave]
        layout = GitopsLayout(settings, stack, part, brought, self.last.tree) if settings else None
        rollout = None
        if not part.ended and wave is not None:
            # A file that was given stays where it is; the last render is replaced, so its state is
            # kept.
            before = None if self.given else kept(self.state, plan.options.stack)
            rollout = UnfinishedRollout(wave, len(waves), goal_of(plan), before)

        def beside() -> dict[str, Any]:
            tree = layout.tree() if layout else None
            return remembered(
                settings, LastTree(tree.steps, tree.phases) if tree else LastTree(), rollout
            )

        return rendered(part, show_secrets=show_secrets, layout=layout, remembered=beside)

    def words(self, wave: int) -> Iterator[str]:
        """Yield how far the rollout is once a wave is rendered, and what is left."""
        waves = self.waves
        if not waves:
            yield "nothing is left to be rolled out"
            return
        if wave:
            yield f"wave {wave} of {len(waves)}: {_words(waves[wave - 1])}"
        if not wave:
            yield f"{count(len(waves), 'wave')} left"
        for plan_wave in waves[wave:]:
            lead = "next: " if plan_wave.number == wave + 1 else ""
            yield f"{lead}wave {plan_wave.number}: {_words(plan_wave)}"
        if wave and wave < len(waves) and (seconds := waves[wave - 1].wait_seconds):
            yield f"wait {seconds} s once this wave is ready, before the next one is merged"
        if wave == len(waves):
            yield "no wave is left"

    def _check(self, wave: int) -> None:
        """Check that it is the turn of a wave.

        Raises:
            FleetError: it is not.
        """
        waves, rollout = len(self.waves), self.last.rollout
        # A wave is rendered, and the plan no longer leads to its goal: its number means nothing
        # here.
        if wave > 1 and rollout and not self.reached:
            what = Message(
                "plan-another-one-than",
                "the plan is another one than that of which wave {wave} is rendered, and begins"
                " with wave 1",
                wave=rollout.wave,
            )
            hint = "--wave 1 begins with it; members keep what they were rendered"
            # Only that file can show whether the plan is still the same.
            if rollout.before is None and not self.given:
                hint = "--state FILE, with the file that the rollout began with; or --wave 1"
            raise FleetError([Problem(what, hint=hint)])
        if wave > waves:
            raise FleetError(
                [
                    Problem(
                        Message(
                            "no-wave-plan",
                            "there is no wave {wave}: the plan has {count}",
                            wave=wave,
                            count=count(waves, "wave"),
                        ),
                        hint="--wave without a number shows what is left",
                    )
                ]
            )
        # The same wave may be rendered again: reached is then its number.
        if wave > self.reached + 1:
            hint = f"--wave {self.reached + 1}, and merge it first"
            raise FleetError(
                [
                    Problem(
                        Message(
                            "wave-comes-before-wave",
                            "wave {reached} comes before wave {wave}",
                            reached=self.reached + 1,
                            wave=wave,
                        ),
                        hint=hint,
                    )
                ]
            )


def _only(surveyed: Survey) -> FleetPlan:
    """Return the only fleet, which is the one to render.

    Raises:
        FleetError: there is no fleet, or there are several.
    """
    plans = surveyed.plans
    if len(plans) != 1:
        what = (
            Message("program-no-fleet", "the program has no fleet")
            if not plans
            else Message("program-fleets", "the program has {plans} fleets", plans=len(plans))
        )
        raise FleetError([Problem(what, hint="render the directory of each")])
    return plans[0]


def _words(wave: PlanWave) -> str:
    """Return what a wave changes, by subject."""
    moves = [
        f"{name.partition('/')[2]}: {few(members, _MOST)}" for name, members in wave.moves.items()
    ]
    leaves = [
        f"{name.partition('/')[2]} leaves {few(members, _MOST)}"
        for name, members in wave.leaves.items()
    ]
    return "; ".join([*moves, *leaves])


# Memory of the last render in a folder, beside the decisions: for which tool it was, and how far a
# rollout is.


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
    # A damaged state is reported when it is read as the starting point.
    except (OSError, UnreadableError):
        return LastRender()
    kept: Mapping[str, Any] = data if isinstance(data, dict) else {}
    gitops, rollout = kept.get(GITOPS), kept.get(ROLLOUT)
    try:
        return LastRender(
            settings=(
                GitopsSettings.of(gitops.get("settings"), str(file))
                if isinstance(gitops, dict)
                else None
            ),
            tree=decode(LastTree, gitops) if isinstance(gitops, dict) else LastTree(),
            rollout=None if rollout is None else decode(UnfinishedRollout, rollout),
            file=str(file),
        )
    except MisfitError as misfit:
        problems = [
            attrs.evolve(problem, file=str(file), hint=RENDER_ANEW) for problem in misfit.problems
        ]
        raise FleetError(problems) from None


def remembered(
    settings: GitopsSettings | None, tree: LastTree, rollout: UnfinishedRollout | None
) -> dict[str, Any]:
    """Return what the state of a render keeps beside the decisions."""
    gitops = {GITOPS: {"settings": settings.to_wire(), **encode(tree)}} if settings else {}
    return {**gitops, **({ROLLOUT: encode(rollout)} if rollout else {})}


def kept(state: StateFile, stack: str) -> dict[str, Any]:
    """Return a state of a render as it is kept while a rollout goes on from it."""
    return to_render(stack, list(state.state.resources.values()))
