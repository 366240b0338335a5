"""Verification that each member is the cluster that it was, and that no object that comes to it
belongs to somebody else already.

All members are asked before anything is written to any of them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from functools import cached_property
from importlib import import_module
from operator import itemgetter
from typing import Any

import attrs
import pulumi

from fleet_components.components.answers import AnswerChecks
from fleet_components.components.asking import ask_member, asked_for, compare_all, live_in
from fleet_components.components.handing_over import EarlierNames, between
from fleet_components.components.member import Member, identifier_of
from fleet_components.components.own_provider import (
    ProviderSettings,
    demands_of,
    settings_of,
    unreached,
)
from fleet_components.components.process import in_process, unknown, without_resources
from fleet_components.components.refusal import RefusedError, refusing
from fleet_components.components.run import Planned
from fleet_components.components.trials import FormTrials
from fleet_components.dynamic import Member as MemberRecord
from fleet_components.live.connection import Answer, Leftover, delete_leftovers
from fleet_components.live.kubeconfig import read_kubeconfig
from fleet_components.model.manifest import ObjectKey, Origin
from fleet_components.plan import names
from fleet_components.plan.apply_mode import ApplyMode
from fleet_components.plan.claims import contests
from fleet_components.plan.departures import Fate
from fleet_components.plan.fleet_plan import FleetPlan, grouped
from fleet_components.plan.guard import Pair
from fleet_components.plan.lost import warn_of_silent
from fleet_components.plan.ownership import Arrival, arrivals, compared_first, left_over, rewritten
from fleet_components.plan.record import FORMAT


@attrs.frozen
class Identification:
    """Reads the uid of each member's cluster, compares it with the past, and records it.

    Attributes:
        fleet: the fleet's name.
        members: the members by name.
        planned: the plan, and the other fleets of the program.
        earlier: former names of the fleet and its members.
        reaches: False if clusters are not contacted at all, because objects are only rendered.
        written: where the objects of the source are written.
        gone: members that are no longer declared, by name, as they were reached before.
        parent: the parent of the resources.
        trials: the trials of what is replaced.
    """

    fleet: str
    members: Mapping[str, Member]
    planned: Planned
    earlier: EarlierNames
    reaches: bool
    written: Mapping[ObjectKey, Origin]
    gone: Mapping[str, Member]
    parent: pulumi.Resource
    trials: FormTrials

    @property
    def plan(self) -> FleetPlan:
        """The plan; once all fleets of the program are known, the one that knows them."""
        return self.planned.plan

    @property
    def checks(self) -> AnswerChecks:
        """Checks of what members answer, against the plan as it is now."""
        asks = self.reaches and not in_process()
        return AnswerChecks(self.fleet, self.plan, self.members, self.written, asks, self.parent)

    @cached_property
    def settings(self) -> Mapping[str, pulumi.Output[ProviderSettings]]:
        """Settings of the providers that members bring, by member; resolved once all meet the
        plan's demands.
        """
        brought = {
            name: settings_of(m.provider)
            for name, m in self.members.items()
            if m.provider and self.reaches
        }
        # All at once, so that one run names what is wrong with every provider.
        checked: pulumi.Output[Any] = pulumi.Output.all(**brought).apply(self._checked)
        return {name: checked.apply(itemgetter(name)) for name in brought}

    def register(self) -> list[pulumi.Resource]:
        """Register a record of each member, and return what everything that is written to members
        has to depend on.
        """
        records = [self._record(name) for name in sorted(self.members)]
        # A member has up to two providers, and each of them waits for all records.
        return (
            between(f"{self.fleet}/members", records, 2 * len(records), self.parent)
            if records
            else []
        )

    def knows(self, name: str) -> pulumi.Input[bool]:
        """Return whether it is known what a member has already of what comes to it.

        Where that cannot be asked nothing may be taken over, nor overwritten: the cluster itself
        refuses it then. A preview writes nothing, and shows what is usual; of a new member that
        does not answer it leaves this open, since an update that is limited to the plan of a
        preview (``pulumi up --plan``) must not register anything else.
        """
        shown = pulumi.runtime.is_dry_run()
        coming = [
            arrival
            for arrival in arrivals(self.plan, name)
            if arrival.pair not in self.plan.taken_over
        ]
        if in_process() or not coming or (shown and name in self.plan.past.members):
            return True

        def known(answers: Mapping[str, Answer]) -> Any:
            asked = answers.get(name, Answer()).objects is not None
            return asked or (unknown() if shown else False)

        # The resources behind it are waited for in any case: providers come after all records.
        return without_resources(self.answers.apply(known))

    @cached_property
    def contested(self) -> frozenset[Pair]:
        """The objects that come to members, and that other resources of the stack may be."""
        return frozenset(claim.pair for claim in contests(self.plan))

    def _checked(self, settings: Mapping[str, ProviderSettings]) -> Mapping[str, ProviderSettings]:
        demands = {name: demands_of(self.plan, self.members[name]) for name in settings}
        problems = [
            problem
            for name, demand in demands.items()
            for problem in demand.problems(settings[name])
        ]
        if problems:
            raise RefusedError(problems)
        for name, demand in demands.items():
            for warning in demand.warnings(settings[name]):
                pulumi.log.warn(str(warning), self.parent)
        return settings

    def _record(self, name: str) -> MemberRecord:
        resource, known = names.member_name(self.fleet, name), self.plan.past.members.get(name)
        identity, swept = self._identity(name), self._swept(name)
        props = {
            "key": resource,
            "format": FORMAT,
            "fleet": self.fleet,
            "member": name,
            "identifier": self._identifier(name),
            **({"identity": identity} if identity else {}),
            **({"formerly": list(known.formerly)} if known and known.formerly else {}),
            **self.plan.remembered(name),
            **({"forgotten": swept} if swept is not None else {}),
            **({"ownProvider": True} if self.members[name].provider is not None else {}),
            "confirm": sorted(self.plan.options.confirm),
            "uid": self.answers.apply(lambda found: found.get(name, Answer()).uid),
        }
        options = pulumi.ResourceOptions(parent=self.parent)
        alias = self.earlier.alias(names.MEMBER, resource, self.earlier.member(name))
        return MemberRecord(resource, props, pulumi.ResourceOptions.merge(options, alias))

    def _identity(self, name: str) -> str:
        """Return what identifies a cluster before it can be asked; of a member that is gone, what
        is recorded.
        """
        known = self.plan.past.members.get(name)
        gone = known.identity if known and name in self.gone else ""
        return self.plan.options.identities.get(name, gone)

    def _identifier(self, name: str) -> pulumi.Input[str]:
        """Return the identifier under which a member's provider knows its cluster."""
        before = identifier_of(self.plan, self.members[name])
        if name not in self.settings:
            return before
        known = name in self.plan.past.members

        def identifier(settings: ProviderSettings) -> Any:
            # In a preview the setting may be unknown: the name would then differ from what the
            # update records.
            return settings.identifier or (before if known else unknown())

        return self.settings[name].apply(identifier)

    def _kubeconfig(self, name: str) -> pulumi.Output[str] | None:
        """Return the kubeconfig of a member; empty if its own provider has none, None if it cannot
        be reached.
        """
        member = self.members[name]
        if name in self.settings:
            return self.settings[name].apply(lambda settings: settings.kubeconfig(name))
        return None if member.kubeconfig is None else pulumi.Output.from_input(member.kubeconfig)

    def asked_with(self, name: str) -> pulumi.Output[str] | None:
        """Return the kubeconfig with which a member is asked for objects; None of a member that is
        not asked.
        """
        asked = self.reaches and not in_process() and not self.members[name].lost
        return self._kubeconfig(name) if asked else None

    def tries(
        self, name: str, data: Mapping[str, Any], mode: ApplyMode, after: pulumi.Output[Any]
    ) -> pulumi.Output[Any]:
        """Return an output that is known once the new form of an object was tried, in an update.

        Args:
            name: the member that recreates the object.
            data: its new form.
            mode: how it is written.
            after: output that has to be known first.
        """
        kubeconfig = None if pulumi.runtime.is_dry_run() else self.asked_with(name)
        if kubeconfig is None:
            return pulumi.Output.from_input(None)
        return self.trials.again(name, kubeconfig, data, mode, after)

    @cached_property
    def asked(self) -> Mapping[str, Any]:
        """Kubeconfigs of the members that are asked, by name."""
        return {
            name: kubeconfig
            for name in self.members
            for kubeconfig in [self.asked_with(name)]
            if kubeconfig is not None
        }

    @cached_property
    def answers(self) -> pulumi.Output[Mapping[str, Answer]]:
        """Answers of the members that are asked, by name; resolved once none of them is a reason to
        refuse.
        """
        return self._judged.apply(lambda judged: judged.answers)

    @cached_property
    def taken(self) -> pulumi.Output[Mapping[Pair, str]]:
        """URNs under which other resources of the stack have objects that come to members."""
        return self._judged.apply(lambda judged: judged.taken)

    @cached_property
    def _judged(self) -> pulumi.Output[_Judged]:
        asked = dict(self.asked)
        if asked:
            # Fails here if it is not installed; later on, errors are suppressed.
            import_module("lightkube")
        # Waited for even where no cluster is asked, so that everything comes after the checks of
        # the settings.
        known = pulumi.Output.all({**asked, **self._left()}, dict(self.settings))
        # What is made of a secret kubeconfig is a secret: diffs would read ``[secret]`` in place of
        # the uid.
        found: pulumi.Output[_Judged] = pulumi.Output.unsecret(
            known.apply(lambda inputs: self._ask(*inputs))
        )
        return found

    async def _ask(
        self, kubeconfigs: Mapping[str, str], settings: Mapping[str, ProviderSettings]
    ) -> _Judged:
        await self.planned.wait()
        checks = self.checks
        arriving = {name: arrivals(self.plan, name) for name in kubeconfigs}
        answers = await self._first_answers(kubeconfigs, arriving)
        others = [
            name for name in self.members if name in answers and checks.another(name, answers)
        ]
        # On another cluster nothing stands yet, so everything arrives.
        arriving |= {name: arrivals(self.plan, name, elsewhere=True) for name in others}
        answers |= await self._answers_on_leaving(kubeconfigs, arriving, others)
        checks.warn_of_others(others, answers)
        contested = bool(self.contested)
        taken = await checks.claimed(
            arriving,
            answers,
            kubeconfigs,
            settings,
            self.planned.others,
            contested,
        )
        coming = [
            arrival
            for objects in arriving.values()
            for arrival in objects
            if arrival.pair not in taken
        ]
        standing = [arrival for name in kubeconfigs for arrival in rewritten(self.plan, name)]
        judged = (*compared_first(coming, live_in(answers)), *standing)
        compared = await compare_all(judged, kubeconfigs, self.plan.manager)
        checks.refuse_foreign(coming, standing, answers, compared)
        if self.reaches and not in_process():
            silent = [name for name, answer in answers.items() if answer.uid is None]
            await self.trials.begin(kubeconfigs, silent)
        checks.warn_of_taken(coming, answers, settings)
        return _Judged(answers, taken)

    async def _first_answers(
        self,
        kubeconfigs: Mapping[str, str],
        arriving: Mapping[str, Sequence[Arrival]],
    ) -> dict[str, Answer]:
        """Return what members answer of what comes to them, or may be gone from them.

        Raises:
            RefusedError: a member is not the cluster that it was, or does not have what it has to.
        """
        checks, left = self.checks, left_over(self.plan)
        asked = []
        for name, kubeconfig in kubeconfigs.items():
            wanted = asked_for([*arriving[name], *left.get(name, ())])
            asked.append(ask_member(name, kubeconfig, [*wanted, *checks.unsure(name)]))
        answers = dict(zip(kubeconfigs, await asyncio.gather(*asked), strict=True))
        checks.refuse_silent(answers)
        silent = [
            name for name, answer in answers.items() if name in self.members and not answer.uid
        ]
        for warning in warn_of_silent(self.plan, silent):
            pulumi.log.warn(str(warning), self.parent)
        uids = {name: answer.uid for name, answer in answers.items() if name in self.members}
        checks.refuse_other_clusters(uids)
        checks.refuse_misplaced(answers)
        others = [
            name for name in self.members if name in answers and checks.another(name, answers)
        ]
        checks.refuse_vanishing({name: left[name] for name in left.keys() - others}, answers)
        return answers

    async def _answers_on_leaving(
        self,
        kubeconfigs: Mapping[str, str],
        arriving: Mapping[str, Sequence[Arrival]],
        others: Sequence[str],
    ) -> dict[str, Answer]:
        """Return what members answer whose names lead to other clusters, or on which objects of
        others are deleted.

        Raises:
            RefusedError: what somebody else has made would be deleted, or that is not known.
        """
        leaving = [arrival for name in kubeconfigs for arrival in self.checks.leaving(name, others)]
        # Members that were asked before: their first question did not name these objects.
        again = sorted({*others, *(arrival.cluster for arrival in leaving)})
        gone = grouped(leaving, lambda arrival: arrival.cluster)
        asked = []
        for name in again:
            wanted = asked_for([*arriving[name], *gone.get(name, ())])
            asked.append(ask_member(name, kubeconfigs[name], wanted))
        answers = dict(zip(again, await asyncio.gather(*asked), strict=True))
        self.checks.refuse_unknown(leaving, answers)
        return answers

    def _left(self) -> dict[str, str]:
        """Return the kubeconfigs of members that are no longer declared and on which something is
        deleted.
        """
        if in_process() or not self.reaches:
            return {}
        emptied = {
            departure.cluster
            for departure in self.plan.departures
            if departure.fate is Fate.DELETED
        }
        kubeconfigs = {name: self.gone[name].kubeconfig for name in emptied & self.gone.keys()}
        return {name: text for name, text in kubeconfigs.items() if isinstance(text, str)}

    def _swept(self, name: str) -> pulumi.Output[list[str]] | None:
        """Return an empty list once the objects are deleted that a member has and no state; None if
        there are none.
        """
        if not self.plan.swept(name):
            return None
        spares = self.plan.options.settings.keep_found
        # Read once all fleets are known: another one may bring some of them.
        swept = self.answers.apply(
            lambda _: tuple(
                Leftover.of(departure.api_version, departure.key)
                for departure in self.plan.swept(name)
            )
        )
        return self.delete(name, swept, self.answers, spares_found=spares).apply(lambda _: [])

    def delete(
        self,
        name: str,
        leftovers: pulumi.Input[Sequence[Leftover]],
        after: pulumi.Output[Any],
        *,
        spares_found: bool = False,
    ) -> pulumi.Output[Any]:
        """Delete objects of this stack from a member; only in updates, and never in process.

        In a preview, a provider that the member brings is checked for a kubeconfig.

        Args:
            name: name of the member.
            leftovers: the objects to delete.
            after: output that has to be known first.
            spares_found: True to leave objects alone that stood there before the stack took them
                over.
        """
        kubeconfig = self._kubeconfig(name)
        shown = pulumi.runtime.is_dry_run() or in_process()
        if kubeconfig is None or not self.reaches or (shown and name not in self.settings):
            return pulumi.Output.from_input(None)

        def delete(found: list[Any]) -> None:
            # Empty if the provider of the member has no kubeconfig, see _kubeconfig.
            if not found[0]:
                raise RefusedError([unreached(name, list(map(str, found[2])))])
            with refusing():
                if not shown:
                    kubeconfig, stacks = read_kubeconfig(found[0], name), self.plan.stacks
                    delete_leftovers(kubeconfig, found[2], stacks=stacks, spares_found=spares_found)

        # Nothing is deleted before the uid of the member is checked, which `after` stands for.
        given = pulumi.Output.all(kubeconfig, after, leftovers)
        return pulumi.Output.unsecret(given.apply(delete))


@attrs.frozen
class _Judged:
    """Answers of members, once none of them is a reason to refuse.

    Attributes:
        answers: by member.
        taken: URNs under which other resources of the stack have objects that come to members.
    """

    answers: Mapping[str, Answer]
    taken: Mapping[Pair, str]
