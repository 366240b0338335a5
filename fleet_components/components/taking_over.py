"""Objects that come to members where somebody has them already: they are marked, and taken over as
what they are.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cached_property, partial
from typing import Any

import attrs
import pulumi

from fleet_components.components.asking import as_leftover, ask_member, compare_all, live_in
from fleet_components.components.identification import Identification
from fleet_components.components.process import in_process, in_thread
from fleet_components.components.refusal import RefusedError
from fleet_components.content.secret import REDACTED, secret_fields
from fleet_components.content.stamp import CLUSTER_ANNOTATION, FOUND, FOUND_ANNOTATION, annotated
from fleet_components.live.asked_objects import WantedObject, observe
from fleet_components.live.connection import Answer
from fleet_components.live.kubeconfig import read_kubeconfig
from fleet_components.model.manifest import Manifest, ObjectKey
from fleet_components.model.message import Message
from fleet_components.model.observed import SILENT, ObservedMember, ObservedObject
from fleet_components.model.problem import FleetError, Problem
from fleet_components.plan import names
from fleet_components.plan.apply_mode import ApplyMode, TakeOver
from fleet_components.plan.fleet_plan import FleetPlan
from fleet_components.plan.guard import Pair
from fleet_components.plan.ownership import Arrival, arrivals, compared_first, found_there
from fleet_components.plan.record import Objects

EVERYTHING = "*"
"""Path of ``ignore_changes`` that has the engine leave an object as it is."""


@attrs.frozen(slots=False)
class TakingOver:
    """Marks and aliases of objects that may stand on their members before the stack writes them.

    Attributes:
        identification: the members and their answers.
    """

    identification: Identification

    @property
    def plan(self) -> FleetPlan:
        """The plan; once all fleets of the program are known, the one that knows them."""
        return self.identification.plan

    def marks(self, name: str, key: ObjectKey) -> list[pulumi.ResourceTransform]:
        """Return transforms that mark an object that comes to a member, if it stood there before.

        The mark, and that the engine keeps the object, come with the update that takes it over: the
        object may leave in the very next one. What arrives is known before anything is registered,
        and what is there only later.
        """
        if in_process() or (arrival := self._coming.get((name, key))) is None:
            return []

        async def mark(args: pulumi.ResourceTransformArgs) -> pulumi.ResourceTransformResult | None:
            # The stack has it already, as another resource.
            if (name, key) in (await self.identification.taken.future() or ()):
                return None
            answers: Mapping[str, Answer] = await self.identification.answers.future() or {}
            another = self.identification.checks.another(name, answers)
            stood = (name, key) in self.plan.standing
            if stood and not another and (name, key) not in self.plan.unsettled:
                return None
            found: Collection[Pair] = (
                found_there([arrival], live_in(answers)) if name in answers else ()
            )
            if arrival.mode.takes_over is TakeOver.IF_NO_DIFF and not pulumi.runtime.is_dry_run():
                found = await self._found_now(arrival)
            marks = {FOUND_ANNOTATION: FOUND} if (name, key) in found else {}
            marks |= {CLUSTER_ANNOTATION: another} if another else {}
            if (name, key) in found:
                args.opts.retain_on_delete = (
                    args.opts.retain_on_delete or self.plan.options.settings.keep_found
                )
            if stood:
                await self._bring_again(arrival, answers, args.opts)
            return pulumi.ResourceTransformResult(annotated(args.props, marks), args.opts)

        return [mark]

    def aliases(self, name: str, key: ObjectKey) -> list[pulumi.Input[str]]:
        """Return the URN under which another resource of the stack has an object that comes to a
        member.
        """
        if (name, key) not in self.identification.contested:
            return []
        # The SDK takes no alias that turns out to be none.
        nothing = f"urn:pulumi:{pulumi.get_stack()}::{pulumi.get_project()}::{names.TARGET}::none"
        return [self.identification.taken.apply(lambda taken: taken.get((name, key), nothing))]

    async def _bring_again(
        self, arrival: Arrival, answers: Mapping[str, Answer], options: pulumi.ResourceOptions
    ) -> None:
        """Have the engine update an object that the state has of another cluster, or create it.

        The engine sees a change of annotations alone, so that a creation is a replacement. Its
        deletion finds nothing: whether the object is there is asked when it is its turn.
        """
        there = live_in(answers)(arrival)
        if not pulumi.runtime.is_dry_run():
            there = live_in(await self._asked_now(arrival))(arrival)
        # What is to be left alone was changed on the other cluster.
        options.ignore_changes = [
            field for field in _listed(options.ignore_changes) if field != EVERYTHING
        ]
        if there is None:
            options.replace_on_changes = [*_listed(options.replace_on_changes), "metadata"]
            options.delete_before_replace = True

    def _may_be_another(self, name: str) -> bool:
        """Return whether the name of a member may lead to another cluster than before: that takes a
        token.
        """
        known = self.plan.past.members.get(name)
        return bool(known and known.uid and self.plan.options.confirm)

    async def _found_now(self, arrival: Arrival) -> frozenset[Pair]:
        """Return whether an object is on its member when it is its turn: the others may have taken
        some time.

        Raises:
            RefusedError: it must not be taken over any more, or the member cannot be asked.
        """
        answers = await self._asked_now(arrival)
        kubeconfig = await self._kubeconfig_now(arrival.cluster)
        compared = await compare_all(
            compared_first([arrival], live_in(answers)),
            {arrival.cluster: kubeconfig},
            self.plan.manager,
        )
        self.identification.checks.refuse_foreign([arrival], [], answers, compared)
        return found_there([arrival], live_in(answers))

    async def _asked_now(self, arrival: Arrival) -> Mapping[str, Answer]:
        """Return the answer of a member that is asked for one object, by its name.

        Raises:
            RefusedError: the member cannot be asked.
        """
        name = arrival.cluster
        kubeconfig = await self._kubeconfig_now(name)
        answer = await ask_member(name, kubeconfig, [as_leftover(arrival)])
        if answer.objects is None:
            raise RefusedError(
                [
                    Problem(
                        Message("member-does-not-answer", "{reason}", reason=SILENT),
                        subject=f"{arrival.key} on {name}",
                    )
                ]
            )
        return {name: answer}

    async def _kubeconfig_now(self, name: str) -> str:
        return str(await pulumi.Output.from_input(self.identification.asked[name]).future())

    @cached_property
    def _coming(self) -> Mapping[Pair, Arrival]:
        """The objects that come to members that are asked."""
        return {
            (name, arrival.key): arrival
            for name in self.identification.asked
            for arrival in arrivals(self.plan, name, elsewhere=self._may_be_another(name))
        }


def _listed(fields: Any) -> list[str]:
    return list(fields or ())


# Comparison of objects that are not written with those on their members: reports, and drift that
# is left alone.


_SECONDS = 30.0
_NO_KUBECONFIG = "its provider names no kubeconfig"

Compare = Callable[[Objects, ApplyMode, pulumi.Output[Any]], pulumi.Output[ObservedMember | None]]
"""Compares objects with those on a member once an output is known; None where nobody is asked."""


def compare(
    identification: Identification,
    name: str,
    objects: Objects,
    mode: ApplyMode,
    after: pulumi.Output[Any],
) -> pulumi.Output[ObservedMember | None]:
    """Compare objects with those on a member.

    Args:
        identification: the members.
        name: name of the member.
        objects: the objects as they are wanted.
        mode: how they are compared.
        after: output that has to be known first.

    Returns:
        What the member says; None in process, where objects are only rendered, and of a member that
        is lost.
    """
    kubeconfig = identification.asked_with(name)
    if kubeconfig is None:
        return pulumi.Output.from_input(None)
    manager = identification.plan.manager
    wanted = [WantedObject(data, mode, manager, causes=False) for data in objects]

    async def ask(found: list[Any]) -> ObservedMember:
        return await in_thread(partial(_ask, found[0], name, wanted))

    # What is made of a secret kubeconfig is a secret, and would not be shown; ``live`` hides what
    # is secret itself.
    return pulumi.Output.unsecret(pulumi.Output.all(kubeconfig, after).apply(ask))


def _ask(kubeconfig: str, name: str, wanted: Sequence[WantedObject]) -> ObservedMember:
    if not kubeconfig:
        return ObservedMember(unreached=_NO_KUBECONFIG)
    try:
        text = read_kubeconfig(kubeconfig, name)
    except FleetError as error:
        return ObservedMember(unreached=error.problems[0].what)
    found = observe({name: text}, {name: wanted}, timeout=_SECONDS)[name]
    secret = {Manifest(item.data).key for item in wanted if secret_fields(item.data)}
    return attrs.evolve(
        found,
        objects={
            key: _hidden(observed, secret=key in secret) for key, observed in found.objects.items()
        },
    )


def _hidden(found: ObservedObject, *, secret: bool) -> ObservedObject:
    """Return what is known of an object, without words of an API server that may quote something
    secret.
    """
    return attrs.evolve(found, error=REDACTED) if found.error and secret else found
