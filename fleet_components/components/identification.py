"""Verification that each member is the cluster that it was, and that what comes to it is nobody else's already.

All members are asked before anything is written to any of them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cached_property, partial
from importlib import import_module
from operator import itemgetter
from typing import Any

import attrs
import pulumi

from fleet_components.components.barrier import between
from fleet_components.components.claims import (
    OwnProvider,
    made_anew,
    own_providers,
    reach_of,
)
from fleet_components.components.former import Former
from fleet_components.components.member import Member
from fleet_components.components.own_provider import ProviderSettings, demands_of, settings_of, unreached
from fleet_components.components.past import held_by
from fleet_components.components.process import in_process, in_thread, unknown
from fleet_components.components.refusal import RefusedError, refusing
from fleet_components.components.run import Planned
from fleet_components.components.trials import FormTrials
from fleet_components.content.guarded import read_yaml
from fleet_components.content.secret import REDACTED, secret_fields
from fleet_components.content.stamp import CLUSTER_ANNOTATION, FOUND, FOUND_ANNOTATION, annotated
from fleet_components.dynamic import Member as MemberRecord
from fleet_components.live.asked_objects import Wanted, observe
from fleet_components.live.connection import Answer, Leftover, ask_cluster, delete_leftovers
from fleet_components.live.kubeconfig import read_kubeconfig
from fleet_components.model.manifest import ObjectKey, Origin, value_at
from fleet_components.model.observed import SILENT, ObservedObject
from fleet_components.model.problem import FleetError, Problem
from fleet_components.model.text import few
from fleet_components.plan import names
from fleet_components.plan.apply_mode import ApplyMode, TakeOver
from fleet_components.plan.claims import (
    UNASKED,
    Facts,
    contests,
    judge_claims,
    judge_releases,
)
from fleet_components.plan.departures import Departure, Fate
from fleet_components.plan.fleet_plan import FleetPlan, grouped
from fleet_components.plan.guard import Pair
from fleet_components.plan.identity import identity_of, other_cluster, same_cluster
from fleet_components.plan.lost import warn_of_another, warn_of_silent
from fleet_components.plan.ownership import (
    Arrival,
    Live,
    anothers,
    arrivals,
    compared_first,
    found_there,
    held,
    left_over,
    not_ours,
    not_taken_over,
    overwriting,
    rewritten,
    spaces_of,
    taken_over,
    vanished,
    vanishing,
)
from fleet_components.plan.record import FORMAT
from fleet_components.plan.standing import Standing

_SAME = "is the same cluster as member {other}: their uid is {by}"
_UNASKED = (
    "{members} cannot be asked what is there already of what comes: it is not taken over there in this update, and "
    "fields that others have set are not overwritten"
)
_SILENT = (
    "run again when it answers; if it is gone for good: pulumi config set fleet:lost {name}, and its objects are "
    "dropped from the state"
)
_MISPLACED = "is {key}, renamed in the state, and {name} does not confirm that it is there"
_NAME_BACK = "run again when the member answers; or give it its name back: pulumi state rename '{urn}' '{name}'"
EVERYTHING = "*"
"""Path of ``ignore_changes`` that has the engine leave an object as it is."""
_RENAMED = "is the cluster that was called {old}: its uid is {uid}"


@attrs.frozen
class Identification:
    """Reads the uid of each member's cluster, compares it with the past, and records it.

    Attributes:
        fleet: the fleet's name.
        members: the members by name.
        planned: the plan, and the other fleets of the program.
        former: former names of the fleet and its members.
        reaches: False if clusters are not contacted at all, because objects are only rendered.
        written: where the objects of the source are written.
        gone: members that are no longer declared, by name, as they were reached before.
        parent: the parent of the resources.
        trials: the trials of what is replaced.
    """

    fleet: str
    members: Mapping[str, Member]
    planned: Planned
    former: Former
    reaches: bool
    written: Mapping[ObjectKey, Origin]
    gone: Mapping[str, Member]
    parent: pulumi.Resource
    trials: FormTrials

    @property
    def plan(self) -> FleetPlan:
        """The plan; once all fleets of the program are known, the one that knows them."""
        return self.planned.plan

    @cached_property
    def settings(self) -> Mapping[str, pulumi.Output[ProviderSettings]]:
        """Settings of the providers that members bring, by member; resolved once all meet the plan's demands."""
        brought = {name: settings_of(m.provider) for name, m in self.members.items() if m.provider and self.reaches}
        # All at once, so that one run names what is wrong with every provider.
        checked: pulumi.Output[Any] = pulumi.Output.all(**brought).apply(self._checked)
        return {name: checked.apply(itemgetter(name)) for name in brought}

    def register(self) -> list[pulumi.Resource]:
        """Register a record of each member, and return what everything that is written to members has to depend on."""
        records = [self._record(name) for name in sorted(self.members)]
        # A member has up to two providers, and each of them waits for all records.
        return between(f"{self.fleet}/members", records, 2 * len(records), self.parent) if records else []

    def knows(self, name: str) -> pulumi.Input[bool]:
        """Return whether it is known what a member has already of what comes to it.

        Where that cannot be asked nothing may be taken over, nor overwritten: the cluster itself refuses it then. A
        preview writes nothing, and shows what is usual; of a new member that does not answer it leaves this open, since
        an update that is limited to the plan of a preview (``pulumi up --plan``) must not register anything else.
        """
        shown = pulumi.runtime.is_dry_run()
        coming = [one for one in arrivals(self.plan, name) if one.pair not in self.plan.taken_over]
        if in_process() or not coming or (shown and name in self.plan.past.members):
            return True

        def known(answers: Mapping[str, Answer]) -> Any:
            asked = answers.get(name, Answer()).objects is not None
            return asked or (unknown() if shown else False)

        return self._answers.apply(known)

    def marks(self, name: str, key: ObjectKey) -> list[pulumi.ResourceTransform]:
        """Return transforms that mark an object that comes to a member, if it stood there before.

        The mark, and that the engine keeps the object, come with the update that takes it over: the object may leave
        in the very next one. What arrives is known before anything is registered, and what is there only later.
        """
        if in_process() or (one := self._coming.get((name, key))) is None:
            return []

        async def mark(args: pulumi.ResourceTransformArgs) -> pulumi.ResourceTransformResult | None:
            if (name, key) in (await self._taken.future() or ()):
                return None
            answers: Mapping[str, Answer] = await self._answers.future() or {}
            another = self._another(name, answers)
            stood = (name, key) in self.plan.standing
            if stood and not another and (name, key) not in self.plan.unsettled:
                return None
            found: Collection[Pair] = found_there([one], _live(answers)) if name in answers else ()
            if one.mode.takes_over is TakeOver.IF_NO_DIFF and not pulumi.runtime.is_dry_run():
                found = await self._found_now(one)
            marks = {FOUND_ANNOTATION: FOUND} if (name, key) in found else {}
            marks |= {CLUSTER_ANNOTATION: another} if another else {}
            if (name, key) in found:
                args.opts.retain_on_delete = args.opts.retain_on_delete or self.plan.options.settings.keep_found
            if stood:
                await self._bring_again(one, answers, args.opts)
            return pulumi.ResourceTransformResult(annotated(args.props, marks), args.opts)

        return [mark]

    def aliases(self, name: str, key: ObjectKey) -> list[pulumi.Input[str]]:
        """Return the URN under which another resource of the stack has an object that comes to a member."""
        if (name, key) not in self._contested:
            return []
        # The SDK takes no alias that turns out to be none.
        nothing = f"urn:pulumi:{pulumi.get_stack()}::{pulumi.get_project()}::{names.TARGET}::none"
        return [self._taken.apply(lambda taken: taken.get((name, key), nothing))]

    async def _bring_again(self, one: Arrival, answers: Mapping[str, Answer], options: pulumi.ResourceOptions) -> None:
        """Have the engine update an object that the state has of another cluster, or create it.

        The engine sees a change of annotations alone, so that a creation is a replacement. Its
        deletion finds nothing: whether the object is there is asked when it is its turn.
        """
        there = _live(answers)(one)
        if not pulumi.runtime.is_dry_run():
            there = _live(await self._asked_now(one))(one)
        # What is to be left alone was changed on the other cluster.
        options.ignore_changes = [field for field in _listed(options.ignore_changes) if field != EVERYTHING]
        if there is None:
            options.replace_on_changes = [*_listed(options.replace_on_changes), "metadata"]
            options.delete_before_replace = True

    def _another(self, name: str, answers: Mapping[str, Answer]) -> str:
        """Return the uid of a member's cluster if its name leads to another one than before; else an empty text."""
        known, answer = self.plan.past.members.get(name), answers.get(name, Answer())
        return answer.uid if known and known.uid and answer.uid and known.uid != answer.uid else ""

    def _may_be_another(self, name: str) -> bool:
        """Return whether the name of a member may lead to another cluster than before: that takes a token."""
        known = self.plan.past.members.get(name)
        return bool(known and known.uid and self.plan.options.confirm)

    async def _found_now(self, one: Arrival) -> frozenset[Pair]:
        """Return whether an object is on its member when it is its turn: the others may have taken some time.

        Raises:
            RefusedError: it must not be taken over any more, or the member cannot be asked.
        """
        answers = await self._asked_now(one)
        kubeconfig = await self._kubeconfig_now(one.cluster)
        compared = await self._compared(compared_first([one], _live(answers)), {one.cluster: kubeconfig})
        self._refuse_foreign([one], [], answers, compared)
        return found_there([one], _live(answers))

    async def _asked_now(self, one: Arrival) -> Mapping[str, Answer]:
        """Return the answer of a member that is asked for one object, by its name.

        Raises:
            RefusedError: the member cannot be asked.
        """
        name = one.cluster
        kubeconfig = await self._kubeconfig_now(name)
        answer = await in_thread(partial(_answer, name, kubeconfig, [_as_leftover(one)]))
        if answer.objects is None:
            raise RefusedError([Problem(SILENT, subject=f"{one.key} on {name}")])
        return {name: answer}

    async def _kubeconfig_now(self, name: str) -> str:
        return str(await pulumi.Output.from_input(self._asked[name]).future())

    @cached_property
    def _coming(self) -> Mapping[Pair, Arrival]:
        """The objects that come to members that are asked."""
        return {
            (name, one.key): one
            for name in self._asked
            for one in arrivals(self.plan, name, elsewhere=self._may_be_another(name))
        }

    @cached_property
    def _contested(self) -> frozenset[Pair]:
        """The objects that come to members, and that other resources of the stack may be."""
        return frozenset(one.pair for one in contests(self.plan))

    def _checked(self, settings: Mapping[str, ProviderSettings]) -> Mapping[str, ProviderSettings]:
        demands = {name: demands_of(self.plan, self.members[name]) for name in settings}
        problems = [problem for name, each in demands.items() for problem in each.problems(settings[name])]
        if problems:
            raise RefusedError(problems)
        for name, each in demands.items():
            for warning in each.warnings(settings[name]):
                pulumi.log.warn(str(warning), self.parent)
        return settings

    def _record(self, name: str) -> MemberRecord:
        resource, known = names.member_name(self.fleet, name), self.plan.past.members.get(name)
        props = {
            "key": resource,
            "format": FORMAT,
            "fleet": self.fleet,
            "member": name,
            "identifier": self._identifier(name),
            **({"identity": identity} if (identity := self._identity(name)) else {}),
            **({"formerly": list(known.formerly)} if known and known.formerly else {}),
            **self.plan.remembered(name),
            **({"forgotten": swept} if (swept := self._swept(name)) is not None else {}),
            **({"ownProvider": True} if self.members[name].provider is not None else {}),
            "confirm": sorted(self.plan.options.confirm),
            "uid": self._answers.apply(lambda found: found.get(name, Answer()).uid),
        }
        options = pulumi.ResourceOptions(parent=self.parent)
        alias = self.former.alias(names.MEMBER, resource, self.former.member(name))
        return MemberRecord(resource, props, pulumi.ResourceOptions.merge(options, alias))

    def _identity(self, name: str) -> str:
        """Return what identifies a cluster before it can be asked; of a member that is gone, what is recorded."""
        known = self.plan.past.members.get(name)
        gone = known.identity if known and name in self.gone else ""
        return self.plan.options.identities.get(name, gone)

    def _identifier(self, name: str) -> pulumi.Input[str]:
        """Return the identifier under which a member's provider knows its cluster."""
        before = identifier_of(self.plan, self.members[name])
        if name not in self.settings:
            return before
        known = name in self.plan.past.members

        def said(settings: ProviderSettings) -> Any:
            # In a preview the setting may be unknown: a name in its place would not be what the update records.
            return settings.identifier or (before if known else unknown())

        return self.settings[name].apply(said)

    def _kubeconfig(self, name: str) -> pulumi.Output[str] | None:
        """Return the kubeconfig of a member; empty if its own provider has none, None if it cannot be reached."""
        member = self.members[name]
        if name in self.settings:
            return self.settings[name].apply(lambda settings: settings.kubeconfig(name))
        return None if member.kubeconfig is None else pulumi.Output.from_input(member.kubeconfig)

    def asked_with(self, name: str) -> pulumi.Output[str] | None:
        """Return the kubeconfig with which a member is asked for objects; None of a member that is not asked."""
        asked = self.reaches and not in_process() and not self.members[name].lost
        return self._kubeconfig(name) if asked else None

    def tries(
        self, name: str, data: Mapping[str, Any], mode: ApplyMode, after: pulumi.Output[Any]
    ) -> pulumi.Output[Any]:
        """Return an output that is known once the new form of an object was tried, in an update.

        Args:
            name: the member that deletes the object and creates it anew.
            data: its new form.
            mode: how it is written.
            after: output that has to be known first.
        """
        kubeconfig = None if pulumi.runtime.is_dry_run() else self.asked_with(name)
        if kubeconfig is None:
            return pulumi.Output.from_input(None)
        return self.trials.again(name, kubeconfig, data, mode, after)

    @cached_property
    def _asked(self) -> Mapping[str, Any]:
        """Kubeconfigs of the members that are asked, by name."""
        return {
            name: kubeconfig
            for name, member in self.members.items()
            if self.reaches and not member.lost and not in_process()
            if (kubeconfig := self._kubeconfig(name)) is not None
        }

    @cached_property
    def _answers(self) -> pulumi.Output[Mapping[str, Answer]]:
        """Answers of the members that are asked, by name; resolved once none of them is a reason to refuse."""
        return self._judged.apply(lambda judged: judged.answers)

    @cached_property
    def _taken(self) -> pulumi.Output[Mapping[Pair, str]]:
        """URNs under which other resources of the stack have objects that come to members."""
        return self._judged.apply(lambda judged: judged.taken)

    @cached_property
    def _judged(self) -> pulumi.Output[_Judged]:
        asked = dict(self._asked)
        if asked:
            import_module("lightkube")  # fails here if it is not installed; later on, errors are suppressed
        # Waited for even where no cluster is asked, so that everything comes after the checks of the settings.
        known = pulumi.Output.all({**asked, **self._left()}, dict(self.settings))
        # What is made of a secret kubeconfig is a secret: diffs would read ``[secret]`` in place of the uid.
        found: pulumi.Output[_Judged] = pulumi.Output.unsecret(known.apply(lambda one: self._ask(*one)))
        return found

    async def _ask(self, kubeconfigs: Mapping[str, str], settings: Mapping[str, ProviderSettings]) -> _Judged:
        await self.planned.wait()
        arriving = {name: arrivals(self.plan, name) for name in kubeconfigs}
        left = left_over(self.plan)
        asked = []
        for name, text in kubeconfigs.items():
            wanted = _asked_for([*arriving[name], *left.get(name, ())])
            asked.append(in_thread(partial(_answer, name, text, [*wanted, *self._unsure(name)])))
        answers = dict(zip(kubeconfigs, await asyncio.gather(*asked), strict=True))
        self._refuse_silent(answers)
        silent = [name for name, answer in answers.items() if name in self.members and not answer.uid]
        for warning in warn_of_silent(self.plan, silent):
            pulumi.log.warn(str(warning), self.parent)
        self._refuse({name: answer.uid for name, answer in answers.items() if name in self.members})
        self._refuse_misplaced(answers)
        others = [name for name in self.members if name in answers and self._another(name, answers)]
        self._refuse_vanishing({name: left[name] for name in left.keys() - others}, answers)
        arriving |= {name: arrivals(self.plan, name, elsewhere=True) for name in others}
        leaving = [one for name in kubeconfigs for one in self._leaving(name, others)]
        again = sorted({*others, *(one.cluster for one in leaving)})
        gone, asked = grouped(leaving, lambda departure: departure.cluster), []
        for name in again:
            wanted = _asked_for([*arriving[name], *gone.get(name, ())])
            asked.append(in_thread(partial(_answer, name, kubeconfigs[name], wanted)))
        answers |= dict(zip(again, await asyncio.gather(*asked), strict=True))
        self._refuse_unknown(leaving, answers)
        self._tell_others(others, answers)
        taken = await self._claimed(arriving, answers, kubeconfigs, settings)
        everything = [one for each in arriving.values() for one in each]
        coming = [one for one in everything if one.pair not in taken]
        standing = [one for name in kubeconfigs for one in rewritten(self.plan, name)]
        judged = (*compared_first(coming, _live(answers)), *standing)
        self._refuse_foreign(coming, standing, answers, await self._compared(judged, kubeconfigs))
        if self.reaches and not in_process():
            silent = [name for name, answer in answers.items() if answer.uid is None]
            await self.trials.begin(kubeconfigs, silent)
        self._tell_taken(coming, answers, settings)
        return _Judged(answers, taken)

    async def _claimed(
        self,
        arriving: Mapping[str, Sequence[Arrival]],
        answers: Mapping[str, Answer],
        kubeconfigs: Mapping[str, str],
        settings: Mapping[str, ProviderSettings],
    ) -> Mapping[Pair, str]:
        """Return the URNs under which other resources of the stack have objects that come to members.

        Raises:
            RefusedError: their deletion would delete the object, or it is not known whether it would.
        """
        if not self.plan.past.others:
            return {}
        objects = {one.pair: one for each in arriving.values() for one in each}
        live = _live(answers)
        facts = Facts(
            uids={name: answer.uid for name, answer in answers.items()},
            live=lambda pair: live(objects[pair]) if pair in objects else None,
            asked={name for name, answer in answers.items() if answer.objects is not None},
            others=self.planned.others,
            unasked=UNASKED if in_process() else SILENT,
        )
        providers: tuple[OwnProvider, ...] = ()
        if not in_process() and self._contested:
            providers = await own_providers(lambda text: ask_cluster(text).uid)
            facts = attrs.evolve(facts, reach=reach_of(providers))
        judgement = judge_claims(self.plan, facts)
        refused = [*judgement.refused, *judge_releases(self.plan, objects, facts)]
        for (name, _), urn in judgement.taken.items():
            claim = next(one for one in self.plan.past.others if one.urn == urn)
            reached = settings.get(name) or ProviderSettings(
                {
                    "kubeconfig": kubeconfigs.get(name, ""),
                    "clusterIdentifier": identifier_of(self.plan, self.members[name]),
                }
            )
            if name in facts.asked:
                anew = made_anew(claim, name, reached, facts.uids[name], providers)
                refused += [anew] if anew else []
        shown = pulumi.runtime.is_dry_run() or in_process()
        refused += [] if shown else judgement.unknown
        if refused:
            raise RefusedError(refused)
        for warning in (*judgement.warnings, *(judgement.unknown if shown else ())):
            pulumi.log.warn(str(warning), self.parent)
        return judgement.taken

    async def _compared(
        self, judged: Sequence[Arrival], kubeconfigs: Mapping[str, str]
    ) -> Mapping[Pair, ObservedObject]:
        """Return how objects on their members differ from what comes."""
        asked = [
            in_thread(partial(_differences, name, kubeconfigs[name], each, self.plan.manager))
            for name, each in grouped(judged, lambda one: one.cluster).items()
        ]
        return {pair: one for found in await asyncio.gather(*asked) for pair, one in found.items()}

    def _leaving(self, name: str, others: Collection[str]) -> Iterator[Arrival]:
        """Yield the objects that the engine deletes on another cluster than that to which the stack has sent them."""
        for one in self.plan.departures:
            pair = (one.cluster, one.key)
            if one.cluster != name or one.fate is not Fate.DELETED or pair not in self.plan.standing:
                continue
            if name in others or pair in self.plan.unsettled:
                key = one.key
                metadata = {"namespace": key.namespace, "name": key.name}
                version = self.plan.standing[pair].api_version
                yield Arrival(name, {"apiVersion": version, "kind": key.kind, "metadata": metadata}, ApplyMode())

    def _refuse_unknown(self, leaving: Sequence[Arrival], answers: Mapping[str, Answer]) -> None:
        """Raise an error if what somebody else has made would be deleted, or if that is not known."""
        unknown = sorted({one.cluster for one in leaving if answers[one.cluster].objects is None})
        problems = [Problem(SILENT, subject=f"member {name}") for name in unknown]
        problems += not_ours(leaving, _live(answers), self.plan)
        if problems:
            raise RefusedError(problems)

    def _tell_others(self, others: Sequence[str], answers: Mapping[str, Answer]) -> None:
        """Warn of each member whose name leads to another cluster, with what becomes of the objects on both."""
        for name in others:
            stood = [one for one in arrivals(self.plan, name, elsewhere=True) if (name, one.key) in self.plan.standing]
            found = {one.key for one in stood if _live(answers)(one) is not None}
            uids = {other: answers[other].uid for other in self.members if other in answers}
            warning = warn_of_another(self.plan, name, uids, found, [one.key for one in stood])
            pulumi.log.warn(str(warning), self.parent)

    def _left(self) -> dict[str, str]:
        """Return the kubeconfigs of members that are no longer declared and on which something is deleted."""
        if in_process() or not self.reaches:
            return {}
        emptied = {one.cluster: one for one in self.plan.departures if one.fate is Fate.DELETED}
        kubeconfigs = {name: self.gone[name].kubeconfig for name in emptied.keys() & self.gone.keys()}
        return {name: text for name, text in kubeconfigs.items() if isinstance(text, str)}

    def _refuse_silent(self, answers: Mapping[str, Answer]) -> None:
        """Raise an error for members that are no longer declared and do not answer, so that nothing is deleted there.

        Where no cluster answers, a preview may simply have no way to any of them: then it is a warning.
        """
        silent = [name for name, answer in answers.items() if name not in self.members and answer.uid is None]
        # One that could never be asked may still be reached by the provider.
        silent = [name for name in silent if self.plan.past.members[name].uid]
        problems = [self._silent(name) for name in sorted(silent)]
        if problems and (not pulumi.runtime.is_dry_run() or any(answer.uid for answer in answers.values())):
            raise RefusedError(problems)
        for problem in problems:
            pulumi.log.warn(str(problem), self.parent)

    def _silent(self, name: str) -> Problem:
        kept = [str(one.key) for one in self.plan.departures if one.cluster == name and one.fate is Fate.DELETED]
        what = f"is no longer a member, and does not answer: {few(kept)} cannot be deleted there"
        return Problem(what, subject=f"member {name}", hint=_SILENT.format(name=name))

    def _refuse_vanishing(
        self,
        left: Mapping[str, Sequence[Arrival]],
        answers: Mapping[str, Answer],
    ) -> None:
        """Raise an error if a member is deleting, or has deleted, what the state has of it."""
        known = {name for name, answer in answers.items() if answer.objects is not None}
        asked = [arrival for name in sorted(known & left.keys()) for arrival in left[name]]
        live = _live(answers)
        problems = [*vanishing(asked, live, self.written), *vanished(asked, live, self.written)]
        if problems:
            raise RefusedError(problems)

    def _refuse_foreign(
        self,
        arriving: Sequence[Arrival],
        standing: Sequence[Arrival],
        answers: Mapping[str, Answer],
        compared: Mapping[Pair, ObservedObject],
    ) -> None:
        """Raise an error if what is on a member is another stack's, or is not to be taken over or overwritten."""
        live = _live(answers)

        def found(one: Arrival) -> ObservedObject | None:
            return compared.get((one.cluster, one.key))

        def holds(stack: str, one: Arrival) -> bool:
            uid = answers[one.cluster].uid
            return bool({(uid, one.key), ("", one.key)} & held_by(stack))

        problems = [
            *held(arriving, live, self.plan, holds),
            *anothers(arriving, live, self.plan, self.written),
            *vanishing(arriving, live, self.written),
            *not_taken_over(arriving, live, found, self.plan, self.written),
            *overwriting(standing, found, self.written),
        ]
        if problems:
            raise RefusedError(problems)

    def _tell_taken(
        self, arriving: Sequence[Arrival], answers: Mapping[str, Answer], settings: Mapping[str, ProviderSettings]
    ) -> None:
        """Warn of what is taken over, and of members of which that is not known."""
        refusing = {name for name, each in settings.items() if not each.is_on("upsertExistingObjects")}
        for warning in taken_over([one for one in arriving if one.cluster not in refusing], _live(answers)):
            pulumi.log.warn(str(warning), self.parent)
        unasked = sorted({one.cluster for one in arriving if answers[one.cluster].objects is None} - settings.keys())
        if unasked:
            pulumi.log.warn(_UNASKED.format(members=few(unasked)), self.parent)

    def _refuse(self, uids: Mapping[str, str | None]) -> None:
        """Raise one error that names every member that is not the cluster it should be."""
        known = self.plan.past.members
        gone = {one.uid: name for name, one in known.items() if name not in self.plan.inventory.names}
        known_uids = {name: uid for name, uid in sorted(uids.items()) if uid is not None}
        problems = list(same_cluster(known_uids, _SAME))
        twice = {problem.subject for problem in problems}
        for name, uid in known_uids.items():
            if f"member {name}" in twice:
                continue
            # The state may have the name without a record of its own, after a rename that broke.
            if uid in gone and not (name in known and known[name].uid):
                hint = f"say so, and nothing is deleted there: fleet:renamed with members: {{{name}: {gone[uid]}}}"
                what = _RENAMED.format(old=gone[uid], uid=uid)
                problems.append(Problem(what, subject=f"member {name}", hint=hint))
            elif name in known:
                old, new = {"uid": known[name].uid}, {"member": name, "uid": uid}
                problem = other_cluster(old, new, self.plan.options.confirm)
                problems += [problem] if problem else []
        if problems:
            raise RefusedError(problems)

    def _unsure(self, name: str) -> Mapping[Leftover, Standing]:
        """Return the objects that have to be on a member for all that is known, and that somebody has renamed."""
        found = (one for one in self.plan.past.standing if one.cluster == name and one.uid)
        return {Leftover.of(one.api_version, one.key): one for one in found}

    def _refuse_misplaced(self, answers: Mapping[str, Answer]) -> None:
        """Raise an error if an object with another name in the state is not on the member that it has to be on."""
        if in_process() or not self.reaches:
            return
        problems = []
        for name in sorted({one.cluster for one in self.plan.past.standing if one.uid}):
            there = answers.get(name, Answer()).objects or {}
            for leftover, one in self._unsure(name).items():
                if value_at(there.get(leftover) or {}, ("metadata", "uid")) != one.uid:
                    old = names.target_name(self.fleet, one.subject.partition("/")[2], name)
                    hint = _NAME_BACK.format(urn=one.urn, name=f"{old}/{names.short_name(one.key)}")
                    problems.append(Problem(_MISPLACED.format(key=one.key, name=name), (), hint, one.urn))
        if problems:
            raise RefusedError(problems)

    def _swept(self, name: str) -> pulumi.Output[list[str]] | None:
        """Return an empty list once the objects are deleted that a member has and no state; None if there are none."""
        if not self.plan.swept(name):
            return None
        spares = self.plan.options.settings.keep_found
        # Read once all fleets are known: another one may bring some of them.
        swept = self._answers.apply(lambda _: tuple(map(_left_behind, self.plan.swept(name))))
        return self.delete(name, swept, self._answers, spares_found=spares).apply(lambda _: [])

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
            spares_found: True to leave objects alone that stood there before the stack took them over.
        """
        kubeconfig = self._kubeconfig(name)
        shown = pulumi.runtime.is_dry_run() or in_process()
        if kubeconfig is None or not self.reaches or (shown and name not in self.settings):
            return pulumi.Output.from_input(None)

        def delete(found: list[Any]) -> None:
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


def identifier_of(plan: FleetPlan, member: Member) -> str:
    """Return the identifier of a member's cluster: the recorded one if known, so that a rename replaces nothing.

    It may be recorded for a member of another fleet, from which objects move.
    """
    known = plan.past.members.get(member.name)
    here = plan.known(member.name)
    others = (one for one in plan.past.neighbours.values() if here.is_cluster(one))
    beside = next((one.identifier for one in others), "")
    # With another identifier the provider creates every object anew and then deletes the old one: on the same cluster.
    return (known.identifier if known else "") or member.identifier or beside or member.name


def identities_of(members: Mapping[str, Member]) -> dict[str, str]:
    """Return what identifies the cluster of each member, as far as it is known before the program runs."""
    found = {name: member.identifier or identity_in(member.kubeconfig, name) for name, member in members.items()}
    return {name: identity for name, identity in found.items() if identity}


def identity_in(kubeconfig: pulumi.Input[str] | None, member: str) -> str:
    """Return the identity of the cluster in a kubeconfig; empty if it is not known yet, or cannot be read."""
    if not isinstance(kubeconfig, str) or kubeconfig == REDACTED:
        return ""
    try:
        config = read_yaml(read_kubeconfig(kubeconfig, member))
    except FleetError:
        return ""  # the provider reports what is wrong with it
    contexts, clusters = _named(config, "context"), _named(config, "cluster")
    context = contexts.get(str(config.get("current-context"))) or next(iter(contexts.values()), {})
    cluster = clusters.get(str(context.get("cluster")))
    if not cluster or not str(cluster.get("server")).startswith("https://"):
        return ""  # without TLS the server is a proxy, which may lead to any cluster
    # Neither the names in it nor the user: several kubeconfigs of one cluster differ in these.
    authority = [str(cluster.get(field) or "") for field in ("certificate-authority-data", "tls-server-name")]
    return identity_of(str(cluster["server"]), "\n".join(authority))


def _answer(name: str, kubeconfig: str, objects: Sequence[Leftover]) -> Answer:
    try:
        return ask_cluster(read_kubeconfig(kubeconfig, name), objects)
    except FleetError:
        return Answer()  # the provider reports what is wrong with it


def _differences(
    name: str, kubeconfig: str, arriving: Sequence[Arrival], manager: str
) -> Mapping[Pair, ObservedObject]:
    """Return how the objects differ from what a member has; of what cannot be compared in time, that it was not."""
    wanted = [Wanted(one.data, _trial(one.mode), manager) for one in arriving]
    answered = observe({name: read_kubeconfig(kubeconfig, name)}, {name: wanted})[name].objects
    return {(name, one.key): _without_secrets(one, answered.get(one.key)) for one in arriving}


def _trial(mode: ApplyMode) -> ApplyMode:
    """Return the mode in which a comparison is made: a conflict is a difference too, and is told with its values."""
    return attrs.evolve(mode, forces=True) if mode.takes_over is TakeOver.IF_NO_DIFF else mode


def _without_secrets(one: Arrival, found: ObservedObject | None) -> ObservedObject:
    """Return a comparison without words of an API server that may quote something secret."""
    if found is None:
        return ObservedObject(one.key, str(one.data["apiVersion"]), error=SILENT)
    return attrs.evolve(found, error=REDACTED) if found.error and secret_fields(one.data) else found


def _listed(fields: Any) -> list[str]:
    return list(fields or ())


def _live(answers: Mapping[str, Answer]) -> Live:
    """Return what looks up objects in the answers of the members."""
    return lambda one: (answers[one.cluster].objects or {}).get(_as_leftover(one))


def _left_behind(one: Departure) -> Leftover:
    return Leftover.of(one.api_version, one.key)


def _as_leftover(one: Arrival) -> Leftover:
    return Leftover.of(str(one.data["apiVersion"]), one.key)


def _asked_for(arriving: Sequence[Arrival]) -> list[Leftover]:
    """Return what a member is asked for before objects come to it: them and their Namespaces."""
    return list(dict.fromkeys(map(_as_leftover, (*arriving, *spaces_of(arriving)))))


def _named(config: Mapping[str, Any], what: str) -> dict[str, Mapping[str, Any]]:
    """Return the contexts or the clusters of a kubeconfig by name; malformed entries are left out."""
    given = (one for one in config[f"{what}s"] if isinstance(one, Mapping))
    return {str(one.get("name")): data for one in given if isinstance(data := one.get(what), Mapping)}
