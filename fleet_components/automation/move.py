"""A stack that moves to another way of delivery: what is there already, and each step through
engine and clusters.
"""

from __future__ import annotations

import shlex
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import TypeVar

import attrs

from fleet_components.automation.engine import Engine, Watcher, carried_out
from fleet_components.automation.reach import Reach
from fleet_components.content.secret import secret_values
from fleet_components.live.connection import Connection, Leftover
from fleet_components.live.marks import HeldObjects, clear, held_objects, hold, release, seen_object
from fleet_components.model.manifest import ObjectKey
from fleet_components.model.message import Message
from fleet_components.model.problem import FleetError, Problem
from fleet_components.model.text import few
from fleet_components.plan.apply_mode import TakeOver
from fleet_components.plan.departures import UNRECORDED, Fate
from fleet_components.plan.fleet_plan import FleetPlan
from fleet_components.plan.guard import loss_token
from fleet_components.plan.moving import between_hubs, releases
from fleet_components.plan.own_outputs import LOST
from fleet_components.plan.subject import Decided
from fleet_components.plan.transfer import Deed, SeenObject, Standpoint
from fleet_components.plan.ways import Way
from fleet_components.review.planning.past import StateFile
from fleet_components.review.planning.project import Project
from fleet_components.review.planning.stack_config import read_stack_config
from fleet_components.review.planning.survey import CommandLine, survey
from fleet_components.systems.registry import SYSTEMS

T = TypeVar("T")
DELIVERY = "fleet:delivery"
_PATIENCE = 180.0
"""Seconds to wait until a hub has done something."""
_TICK = 1.0
# Deleting one of these deletes the objects in it, also those that do not belong to the move.
_CONTAINERS = ("Namespace", "CustomResourceDefinition")
_ABORTS = (
    "conflictResolution of its policy is Abort, the default",
    "write conflictResolution: Overwrite",
)
_NEVER = ("whenToTakeOver of its strategy is Never", "write whenToTakeOver: Always")
_PREFIX = "fleet-components/"


@attrs.define(kw_only=True)
class StackMove:
    """One stack on its way.

    Attributes:
        project: the project.
        name: the name of the stack, without its organization.
        folder: the project, as the command line names it.
        command: the options that plans depend on, with the stack.
        to: the way that the objects are to go.
        placements: keys of the placements and templates that move; all that stand if empty.
        hub_file: the kubeconfig of the hub; None for that of the stack.
        given: files of kubeconfigs of members that count instead of the stack's, by member.
        timeout: how long a cluster has for its answers, in seconds.
        say: receives what happens, in lines.
    """

    project: Project
    name: str
    folder: Path
    command: CommandLine
    to: str
    placements: frozenset[str] = frozenset()
    hub_file: Path | None = None
    given: Mapping[str, Path] = attrs.field(factory=dict)
    timeout: float = 30.0
    say: Callable[[str], None]
    engine: Engine = attrs.field(init=False)
    _state: StateFile = attrs.field(factory=StateFile, init=False)
    _plan: FleetPlan | None = attrs.field(default=None, init=False)
    _known: dict[str, dict[Leftover, str]] = attrs.field(factory=dict, init=False)
    _reach: Reach = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        self.engine = Engine(
            self.project, self.command.stack or "", self.project.stack_file(self.name)
        )
        self._reach = Reach(
            self.project.folder, self.engine, self.given, self.hub_file, self.timeout
        )

    def look(self) -> Standpoint:
        """Return where the move stands, by the state, the hub and the members.

        Raises:
            FleetError: there is nothing to move, or a cluster cannot be reached.
        """
        self._state = self.engine.state()
        command = f"fleet move {shlex.quote(str(self.folder))} --stack {self.command.stack}"
        pasts = [self._state.past(fleet) for fleet in self._state.fleets]
        there = [
            hub for past in pasts for hub in between_hubs(past, self.to, self.placements, command)
        ]
        # The policies of one system mean nothing to the other: a move between hubs goes by direct.
        if there:
            raise FleetError(there)
        # _moving reads this plan.
        self._plan = self._planned({})
        moving = self._moving()
        moved = self._is_moved(moving)
        # Once the objects have moved, the strategy may be what it was before.
        if not moved and (problems := list(_taking_nothing_over(moving))):
            raise FleetError(problems)
        # Only a move away from a hub needs to know what the hub has sent.
        sent = HeldObjects() if moved or self.to != Way.DIRECT else self._ask_hub(moving)
        self._remember(moving, sent)
        return Standpoint(
            to=self.to,
            hub=self._system(moving),
            declared=self._is_declared(),
            kept=self._is_kept(moving),
            held=sent.held,
            let_go=sent.let_go,
            moved=moved,
            objects=self._objects(),
        )

    def moving(self) -> tuple[str, ...]:
        """Return the names of what moves, once it was looked."""
        return tuple(decided.name for decided in self._moving())

    def do(self, deed: Deed) -> None:
        """Carry out a step.

        Raises:
            FleetError: it cannot be done, or would delete something.
        """
        match deed:
            case Deed.DECLARE:
                self.engine.configure(DELIVERY, self.to)
            case Deed.KEEP:
                self._update({"fleet:moving": "true"})
            case Deed.HOLD:
                self._hold()
            case Deed.RELEASE:
                self._release()
            case Deed.SWITCH:
                self._switch()
            case Deed.SETTLE:
                self._settle()

    @property
    def plan(self) -> FleetPlan:
        """The plan of the last look."""
        # look() comes first: nothing else makes a plan.
        assert self._plan is not None
        return self._plan

    @property
    def _aim(self) -> Mapping[str, str]:
        """The configuration that asks for the new way, unless single policies ask for it."""
        return {} if self.placements else {DELIVERY: self.to}

    def _planned(self, config: Mapping[str, str]) -> FleetPlan:
        # _aim makes the plan of the new way before fleet:delivery is configured.
        command = attrs.evolve(
            self.command, state=self._state, config={**self.command.config, **self._aim, **config}
        )
        plans = survey([self.folder], command).plans
        if len(plans) != 1:
            hint = "move the stack of one fleet; or go by the steps of docs/moving.md"
            raise FleetError(
                [
                    Problem(
                        Message("has-fleets", "has {plans} fleets", plans=len(plans)),
                        subject=f"stack {self.name}",
                        hint=hint,
                    )
                ]
            )
        return plans[0]

    def _moving(self) -> tuple[Decided, ...]:
        """Return the subjects that stand, and that are to go the new way.

        Raises:
            FleetError: there are none, or one that is named goes another way.
        """
        stand = [
            subject for subject in self.plan.subjects if subject.name in self.plan.past.records
        ]
        named = [
            decided
            for decided in stand
            if not self.placements or decided.subject.key in self.placements
        ]
        unknown = sorted(self.placements - {decided.subject.key for decided in named})
        if unknown:
            known = (
                f"there is: {few(sorted(decided.subject.key for decided in stand)) or 'nothing'}"
            )
            raise FleetError(
                [
                    Problem(
                        Message(
                            "nothing-stands-called",
                            "nothing that stands is called {unknown}",
                            unknown=few(unknown),
                        ),
                        hint=known,
                    )
                ]
            )
        # Without --placement, subjects that the source sends another way stay there, unless nothing
        # else is left.
        otherwise = [decided for decided in named if _way(decided) != self.to]
        if otherwise and (self.placements or len(otherwise) == len(named)):
            hint = (
                "annotate its placement or policy in the source with fleet-components/delivery:"
                f" {self.to}"
            )
            what = Message(
                "go-source-says", "is to go {way}, as the source says", way=_way(otherwise[0])
            )
            raise FleetError([Problem(what, subject=otherwise[0].name, hint=hint)])
        if not named:
            raise FleetError(
                [
                    Problem(
                        Message("nothing-stands-yet", "nothing stands yet"),
                        hint="set fleet:delivery, and update",
                        subject=self.name,
                    )
                ]
            )
        return tuple(decided for decided in named if _way(decided) == self.to)

    def _is_moved(self, moving: Iterable[Decided]) -> bool:
        past = self.plan.past
        if self.to == Way.DIRECT:
            return not any(
                decided.name in past.forecast or decided.subject.hub_key in past.on_hub
                for decided in moving
            )
        there = {decided.name for decided in moving}
        direct = any(
            standing.urn and not standing.hub and standing.subject in there
            for standing in past.standing
        )
        return not direct and all(past.forecast.get(name) == self.to for name in there)

    def _system(self, moving: Iterable[Decided]) -> str:
        if self.to != Way.DIRECT:
            return self.to
        ways = [self.plan.past.forecast.get(decided.name, "") for decided in moving]
        # The forecast is gone once the objects are direct; the kind of the subject still tells the
        # system.
        return next(filter(None, ways), "") or next(iter(moving)).subject.PROFILE.name

    def _is_declared(self) -> bool:
        if self.placements:
            return True
        configured = read_stack_config(self.project, self.name).values.get(DELIVERY)
        if configured is not None:
            return configured == self.to
        # The key is not set: the program may set it. This plan has no _aim, which would hide that.
        plain = survey([self.folder], attrs.evolve(self.command, state=self._state)).plans
        return all(plan.options.settings.delivery == self.to for plan in plain)

    def _is_kept(self, moving: Iterable[Decided]) -> bool:
        past = self.plan.past
        if self.to != Way.DIRECT:
            names = {decided.name for decided in moving}
            return all(
                standing.kept
                for standing in past.standing
                if standing.subject in names and not standing.hub
            )
        exported = (self._state.export or {}).get("deployment") or {}
        retained = {
            # The engine keeps an object on deletion only if the state, not the program, says so.
            resource["urn"]
            for resource in exported.get("resources") or ()
            if resource.get("retainOnDelete")
        }
        # All other objects may leave the hub: their copies on the members are released before that.
        return all(urn in retained for key, urn in past.on_hub.items() if key.kind in _CONTAINERS)

    def _remember(self, moving: Iterable[Decided], sent: HeldObjects) -> None:
        """Remember which objects to ask for: those that the state has on members, and those that
        the hub has sent.
        """
        system = self._system(tuple(moving))
        names = {decided.name: decided.subject.PROFILE.name for decided in moving}
        for standing in self.plan.past.standing:
            # A hub that hands namespaces out has them on members for reasons of its own.
            if standing.subject in names and not (
                standing.key.kind == "Namespace"
                and SYSTEMS[names[standing.subject]].HANDS_OUT_NAMESPACES
            ):
                key = Leftover.of(standing.api_version, standing.key)
                # Only grows: after the switch neither the state nor the hub names the objects to
                # check.
                self._known.setdefault(standing.cluster, {})[key] = names[standing.subject]
        for member, objects in sent.objects.items():
            self._known.setdefault(member, {}).update(dict.fromkeys(objects, system))

    def _objects(self) -> dict[tuple[str, ObjectKey], SeenObject]:
        self._reach.find(self._known, self.plan.options.fleet, self._state.state)
        # A lost member does not answer; nothing is checked there.
        lost = {name for name, state in self.plan.members.items() if state == LOST}
        with ThreadPoolExecutor(8) as pool:
            each = {
                member: pool.submit(
                    self._reach.on_member, member, partial(self._seen, wanted=dict(wanted))
                )
                for member, wanted in self._known.items()
                if member not in lost
            }
        found = {}
        for member, answers in each.items():
            found.update(
                {(member, _key_of(leftover)): seen for leftover, seen in answers.result().items()}
            )
        return found

    def _seen(
        self, member: Connection, wanted: Mapping[Leftover, str]
    ) -> dict[Leftover, SeenObject]:
        """Return those of some objects that a member has, by what was asked for, whatever it
        answers.
        """
        answers = ((leftover, hub, member.get(leftover)) for leftover, hub in wanted.items())
        return {
            leftover: seen_object(data, hub, self._stack) for leftover, hub, data in answers if data
        }

    @property
    def _stack(self) -> str:
        """The stack as its objects name it: as the last update has recorded it."""
        manager = self.plan.manager
        # A long stack name is hashed in the manager, and a hash has no slash: then the options know
        # the name.
        return (
            self.plan.options.stack
            if "/" not in manager.removeprefix(_PREFIX)
            else manager.removeprefix(_PREFIX)
        )

    def _on_hub(self, work: Callable[[Connection], T]) -> T:
        return self._reach.on_hub(work, self._state.state, self.plan.past.hub)

    def _ask_hub(self, moving: Iterable[Decided]) -> HeldObjects:
        subjects = {decided.subject.hub_key for decided in moving}
        found: HeldObjects = self._on_hub(
            partial(held_objects, system=self._system(tuple(moving)), subjects=subjects)
        )
        return found

    def _update(self, config: Mapping[str, str]) -> None:
        """Run one update, once its plan deletes nothing on members.

        Raises:
            FleetError: the plan is refused or deletes something, or the update has failed.
        """
        plan = self._planned(config)
        if plan.refused:
            raise FleetError(plan.refused)
        gone = [
            departure
            for departure in plan.departures
            if departure.fate in (Fate.DELETED, *UNRECORDED)
        ]
        # A move never deletes: whatever else the update would delete is not part of it.
        if gone or plan.replacements:
            pairs = {(item.cluster, item.key) for item in gone} | {
                (replacement.cluster, replacement.key) for replacement in plan.replacements
            }
            what = few([f"{key} on {member}" for member, key in sorted(pairs)])
            hint = (
                "it does not belong to the move: update the stack on its present way first, or"
                " change the source"
            )
            raise FleetError(
                [
                    Problem(
                        Message("update-delete", "the update would delete {what}", what=what),
                        subject=f"stack {self.name}",
                        hint=hint,
                    )
                ]
            )
        # The state does not have the new Secrets yet, so state() has not hidden them.
        self.engine.hide(secret_values(manifest.data for manifest in plan.written.manifests))
        wanted = {**self._aim, **config}
        wrong, signals = carried_out(self.engine, Watcher(say=self.say), self.command.as_of, wanted)
        # carried_out has taken the signals: the command ends as after any other Ctrl-C.
        if signals:
            raise KeyboardInterrupt
        if wrong:
            hint = "mend it, then run the same command again: it goes on from what it finds"
            raise FleetError(
                [
                    Problem(
                        Message("update-failed", "the update has failed: {wrong}", wrong=wrong),
                        subject=f"stack {self.name}",
                        hint=hint,
                    )
                ]
            )

    def _hold(self) -> None:
        moving = self._moving()
        # Several subjects may have the same policy.
        steering = tuple(dict.fromkeys(self._steering(moving)))
        self._on_hub(
            partial(hold, system=self._system(moving), steering=steering, manager=self.plan.manager)
        )
        self._wait(
            lambda: self._ask_hub(moving).held, "it has not told every Work to let its objects stay"
        )

    def _steering(self, moving: Iterable[Decided]) -> Iterator[ObjectKey]:
        for decided in moving:
            policy = self.plan.past.records[decided.name].steered_by(decided.name)
            if policy:
                yield policy

    def _release(self) -> None:
        moving = self._moving()
        for member, wanted in self._known.items():
            self.say(f"  {member}: {few([str(leftover) for leftover in wanted])}")
            self._reach.on_member(member, partial(self._released, wanted=wanted))
        self._wait(
            lambda: self._ask_hub(moving).let_go, "its agents have not let go of every object"
        )

    def _released(self, member: Connection, wanted: Mapping[Leftover, str]) -> None:
        for leftover, hub in wanted.items():
            release(member, leftover, hub, self._stack, self.plan.manager)

    def _switch(self) -> None:
        moving = self._moving()
        if self.to != Way.DIRECT:
            self._update({})
            return
        names = {decided.name for decided in moving}
        tokens = {token for name, token in releases(self.plan).items() if name in names}
        # The step before has checked that these stay on the hub.
        tokens |= {
            loss_token(str(key), ["hub"])
            for key in self.plan.past.on_hub
            if key.kind in _CONTAINERS
        }
        # A value of one update replaces the configured one, so the user's own tokens are repeated.
        configured = self.engine.settings().get("fleet:confirm") or ""
        self._update({"fleet:confirm": ",".join(filter(None, (configured, *sorted(tokens))))})
        self._wait(lambda: not self._ask_hub(moving).objects, "it has not taken its Works back")

    def _settle(self) -> None:
        if self.to != Way.DIRECT:
            self._wait(
                lambda: not self._untaken(), lambda: f"it has not taken over {few(self._untaken())}"
            )
            return
        self._wait(
            lambda: not any(data.taken for data in self._objects().values()),
            "it still has objects as its own",
        )
        marked = defaultdict[str, list[tuple[Leftover, str]]](list)
        for (member, key), seen in self._objects().items():
            for leftover, hub in self._known[member].items() if seen.marked else ():
                if _key_of(leftover) == key:
                    marked[member].append((leftover, hub))
        for member, found in marked.items():
            self._reach.on_member(member, partial(self._cleared, found=found))

    def _untaken(self) -> list[str]:
        return [
            f"{key} on {member}"
            for (member, key), seen in sorted(self._objects().items())
            if not seen.taken
        ]

    def _cleared(self, member: Connection, found: Iterable[tuple[Leftover, str]]) -> None:
        for leftover, hub in found:
            clear(member, leftover, hub, self.plan.manager)

    def _wait(self, done: Callable[[], bool], otherwise: str | Callable[[], str]) -> None:
        """Wait until something is so.

        Args:
            done: returns whether it is.
            otherwise: what is to be said if it is not in time.

        Raises:
            FleetError: it is not so in time.
        """
        until = time.monotonic() + _PATIENCE
        while not done():
            if time.monotonic() > until:
                # A function, if the text depends on what is still missing at the end.
                what = otherwise if isinstance(otherwise, str) else otherwise()
                hint = (
                    "see what it says (fleet status --hub), then run the same command again: it"
                    " goes on from there"
                )
                raise FleetError(
                    [
                        Problem(
                            Message(
                                "within-s",
                                "{what}, within {patience:g} s",
                                what=what,
                                patience=_PATIENCE,
                            ),
                            subject="the hub",
                            hint=hint,
                        )
                    ]
                )
            time.sleep(_TICK)


def _taking_nothing_over(moving: Iterable[Decided]) -> Iterator[Problem]:
    """Yield the subjects whose objects stay where they are, and that nobody would manage then."""
    for decided in moving:
        if any(
            delivery.mode.takes_over is TakeOver.NEVER for delivery in decided.deliveries.values()
        ):
            karmada = decided.subject.PROFILE.name == Way.KARMADA
            what, instead = _ABORTS if karmada else _NEVER
            yield Problem(
                Message("takes-nothing-over", "takes nothing over: {what}", what=what),
                subject=decided.name,
                hint=f"{instead}, until it has moved",
            )


def _key_of(leftover: Leftover) -> ObjectKey:
    # rpartition: "v1" has no group, "apps/v1" has the group apps.
    return ObjectKey(
        leftover.api_version.rpartition("/")[0], leftover.kind, leftover.namespace, leftover.name
    )


def _way(decided: Decided) -> str:
    return decided.hub or Way.DIRECT.value
