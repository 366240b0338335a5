"""Judgement of what members answer: each is the cluster that it was, and no object that comes to it
belongs to somebody else already.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

import attrs
import pulumi

from fleet_components.components.asking import live_in
from fleet_components.components.claims import OwnProvider, made_anew, own_providers, reach_of
from fleet_components.components.member import Member, identifier_of
from fleet_components.components.own_provider import ProviderSettings
from fleet_components.components.past import held_by
from fleet_components.components.process import in_process
from fleet_components.components.refusal import RefusedError
from fleet_components.live.connection import Answer, Leftover, ask_cluster
from fleet_components.model.manifest import ObjectKey, Origin, value_at
from fleet_components.model.message import Message
from fleet_components.model.observed import SILENT, ObservedObject
from fleet_components.model.problem import Problem
from fleet_components.model.text import few
from fleet_components.plan import names
from fleet_components.plan.apply_mode import ApplyMode
from fleet_components.plan.claims import UNASKED, ClaimFacts, judge_claims, judge_releases
from fleet_components.plan.departures import Fate
from fleet_components.plan.fleet_plan import FleetPlan
from fleet_components.plan.guard import Pair
from fleet_components.plan.lost import other_cluster, same_cluster, warn_of_another
from fleet_components.plan.ownership import (
    Arrival,
    anothers,
    arrivals,
    held,
    not_ours,
    not_taken_over,
    overwriting,
    taken_over,
    vanished,
    vanishing,
)
from fleet_components.plan.standing import Standing

_SAME = Message(
    "same-cluster-member-their", "is the same cluster as member {other}: their uid is {by}"
)
_UNASKED = (
    "{members} cannot be asked what is there already of what comes: it is not taken over there in"
    " this update, and fields that others have set are not overwritten"
)
_SILENT = (
    "run again when it answers; if it is gone for good: pulumi config set fleet:lost {name}, and"
    " its objects are dropped from the state"
)
_MISPLACED = Message(
    "renamed-state-does-not",
    "is {key}, renamed in the state, and {name} does not confirm that it is there",
)
_NAME_BACK = (
    "run again when the member answers; or give it its name back: pulumi state rename '{urn}'"
    " '{name}'"
)
_RENAMED = Message("cluster-called-uid", "is the cluster that was called {old}: its uid is {uid}")


@attrs.frozen
class AnswerChecks:
    """Checks of the answers of members, before anything is written to any of them.

    Attributes:
        fleet: the fleet's name.
        plan: the plan.
        members: the members by name.
        written: where the objects of the source are written.
        asks: False if no cluster is asked.
        parent: the resource that warnings belong to.
    """

    fleet: str
    plan: FleetPlan
    members: Mapping[str, Member]
    written: Mapping[ObjectKey, Origin]
    asks: bool
    parent: pulumi.Resource

    def another(self, name: str, answers: Mapping[str, Answer]) -> str:
        """Return the uid of a member's cluster if its name leads to another one than before; else
        an empty text.
        """
        # A member that was not asked has no entry, and counts as one without an answer.
        known, answer = self.plan.past.members.get(name), answers.get(name, Answer())
        return answer.uid if known and known.uid and answer.uid and known.uid != answer.uid else ""

    def leaving(self, name: str, others: Collection[str]) -> Iterator[Arrival]:
        """Yield the objects that the engine deletes on another cluster than that to which the stack
        has sent them.
        """
        for departure in self.plan.departures:
            pair = (departure.cluster, departure.key)
            if (
                departure.cluster != name
                or departure.fate is not Fate.DELETED
                or pair not in self.plan.standing
            ):
                continue
            if name in others or pair in self.plan.unsettled:
                key = departure.key
                metadata = {"namespace": key.namespace, "name": key.name}
                version = self.plan.standing[pair].api_version
                yield Arrival(
                    name,
                    {"apiVersion": version, "kind": key.kind, "metadata": metadata},
                    ApplyMode(),
                )

    def unsure(self, name: str) -> Mapping[Leftover, Standing]:
        """Return the objects that have to be on a member as far as is known, and that somebody has
        renamed in the state.
        """
        found = (
            standing
            for standing in self.plan.past.standing
            if standing.cluster == name and standing.uid
        )
        return {Leftover.of(standing.api_version, standing.key): standing for standing in found}

    def refuse_silent(self, answers: Mapping[str, Answer]) -> None:
        """Raise an error for members that are no longer declared and do not answer, so that nothing
        is deleted there.

        Where no cluster answers, a preview may simply have no way to any of them: then it is a
        warning.
        """
        silent = [
            name
            for name, answer in answers.items()
            if name not in self.members and answer.uid is None
        ]
        # One that could never be asked may still be reached by the provider.
        silent = [name for name in silent if self.plan.past.members[name].uid]
        problems = [self._silent(name) for name in sorted(silent)]
        if problems and (
            not pulumi.runtime.is_dry_run() or any(answer.uid for answer in answers.values())
        ):
            raise RefusedError(problems)
        for problem in problems:
            pulumi.log.warn(str(problem), self.parent)

    def refuse_other_clusters(self, uids: Mapping[str, str | None]) -> None:
        """Raise one error that names every member that is not the cluster it should be."""
        known = self.plan.past.members
        gone = {
            member.uid: name
            for name, member in known.items()
            if name not in self.plan.inventory.names
        }
        known_uids = {name: uid for name, uid in sorted(uids.items()) if uid is not None}
        problems = list(same_cluster(known_uids, _SAME))
        twice = {problem.subject for problem in problems}
        for name, uid in known_uids.items():
            # ``same_cluster`` has reported it.
            if f"member {name}" in twice:
                continue
            # The state may have the name without a record of its own, after a rename that broke.
            if uid in gone and not (name in known and known[name].uid):
                hint = (
                    f"say so, and nothing is deleted there: fleet:renamed with members: {{{name}:"
                    f" {gone[uid]}}}"
                )
                what = _RENAMED.filled(old=gone[uid], uid=uid)
                problems.append(Problem(what, subject=f"member {name}", hint=hint))
            elif name in known:
                old, new = {"uid": known[name].uid}, {"member": name, "uid": uid}
                problem = other_cluster(old, new, self.plan.options.confirm)
                problems += [problem] if problem else []
        if problems:
            raise RefusedError(problems)

    def refuse_misplaced(self, answers: Mapping[str, Answer]) -> None:
        """Raise an error if an object with another name in the state is not on the member that it
        has to be on.
        """
        if not self.asks:
            return
        problems = []
        for name in sorted(
            {standing.cluster for standing in self.plan.past.standing if standing.uid}
        ):
            there = answers.get(name, Answer()).objects or {}
            for leftover, standing in self.unsure(name).items():
                if value_at(there.get(leftover) or {}, ("metadata", "uid")) != standing.uid:
                    old = names.target_name(self.fleet, standing.subject.partition("/")[2], name)
                    hint = _NAME_BACK.format(
                        urn=standing.urn, name=f"{old}/{names.short_name(standing.key)}"
                    )
                    problems.append(
                        Problem(
                            _MISPLACED.filled(key=standing.key, name=name), (), hint, standing.urn
                        )
                    )
        if problems:
            raise RefusedError(problems)

    def refuse_vanishing(
        self,
        left: Mapping[str, Sequence[Arrival]],
        answers: Mapping[str, Answer],
    ) -> None:
        """Raise an error if a member is deleting, or has deleted, what the state has of it."""
        known = {name for name, answer in answers.items() if answer.objects is not None}
        asked = [arrival for name in sorted(known & left.keys()) for arrival in left[name]]
        live = live_in(answers)
        problems = [*vanishing(asked, live, self.written), *vanished(asked, live, self.written)]
        if problems:
            raise RefusedError(problems)

    def refuse_unknown(self, leaving: Sequence[Arrival], answers: Mapping[str, Answer]) -> None:
        """Raise an error if what somebody else has made would be deleted, or if that is not
        known.
        """
        unknown = sorted(
            {arrival.cluster for arrival in leaving if answers[arrival.cluster].objects is None}
        )
        problems = [
            Problem(
                Message("member-does-not-answer", "{reason}", reason=SILENT),
                subject=f"member {name}",
            )
            for name in unknown
        ]
        problems += not_ours(leaving, live_in(answers), self.plan)
        if problems:
            raise RefusedError(problems)

    def refuse_foreign(
        self,
        arriving: Sequence[Arrival],
        standing: Sequence[Arrival],
        answers: Mapping[str, Answer],
        compared: Mapping[Pair, ObservedObject],
    ) -> None:
        """Raise an error if what is on a member is another stack's, or is not to be taken over or
        overwritten.
        """
        live = live_in(answers)

        def found(arrival: Arrival) -> ObservedObject | None:
            return compared.get((arrival.cluster, arrival.key))

        def holds(stack: str, arrival: Arrival) -> bool:
            uid = answers[arrival.cluster].uid
            # The other stack may not know the uid of its cluster.
            return bool({(uid, arrival.key), ("", arrival.key)} & held_by(stack))

        problems = [
            *held(arriving, live, self.plan, holds),
            *anothers(arriving, live, self.plan, self.written),
            *vanishing(arriving, live, self.written),
            *not_taken_over(arriving, live, found, self.plan, self.written),
            *overwriting(standing, found, self.written),
        ]
        if problems:
            raise RefusedError(problems)

    async def claimed(
        self,
        arriving: Mapping[str, Sequence[Arrival]],
        answers: Mapping[str, Answer],
        kubeconfigs: Mapping[str, str],
        settings: Mapping[str, ProviderSettings],
        others: Sequence[FleetPlan],
        contested: bool,
    ) -> Mapping[Pair, str]:
        """Return the URNs under which other resources of the stack have objects that come to
        members.

        Args:
            arriving: the objects that come, by member.
            answers: the answers of the members.
            kubeconfigs: kubeconfigs by member.
            settings: settings of the providers that members bring.
            others: the other fleets of the program.
            contested: whether other resources may be objects that come.

        Raises:
            RefusedError: their deletion would delete the object, or it is not known whether it
                would.
        """
        if not self.plan.past.others:
            return {}
        objects = {
            arrival.pair: arrival
            for arrivals_there in arriving.values()
            for arrival in arrivals_there
        }
        live = live_in(answers)
        facts = ClaimFacts(
            uids={name: answer.uid for name, answer in answers.items()},
            live=lambda pair: live(objects[pair]) if pair in objects else None,
            asked={name for name, answer in answers.items() if answer.objects is not None},
            others=others,
            unasked=UNASKED if in_process() else SILENT,
        )
        # Every provider of the program is asked for its cluster, which takes time; only objects
        # that another resource may have need it.
        providers: tuple[OwnProvider, ...] = ()
        if not in_process() and contested:
            providers = await own_providers(lambda text: ask_cluster(text).uid)
            facts = attrs.evolve(facts, reach=reach_of(providers))
        judgement = judge_claims(self.plan, facts)
        refused = [*judgement.refused, *judge_releases(self.plan, objects, facts)]
        for (name, _), urn in judgement.taken.items():
            # The judgement takes URNs from these claims only.
            claim = next(claim for claim in self.plan.past.others if claim.urn == urn)
            # As member_provider in providers.py sets up the provider that the fleet declares.
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

    def warn_of_others(self, others: Sequence[str], answers: Mapping[str, Answer]) -> None:
        """Warn of each member whose name leads to another cluster, with what becomes of the objects
        on both.
        """
        for name in others:
            stood = [
                arrival
                for arrival in arrivals(self.plan, name, elsewhere=True)
                if (name, arrival.key) in self.plan.standing
            ]
            found = {arrival.key for arrival in stood if live_in(answers)(arrival) is not None}
            uids = {other: answers[other].uid for other in self.members if other in answers}
            warning = warn_of_another(
                self.plan, name, uids, found, [arrival.key for arrival in stood]
            )
            pulumi.log.warn(str(warning), self.parent)

    def warn_of_taken(
        self,
        arriving: Sequence[Arrival],
        answers: Mapping[str, Answer],
        settings: Mapping[str, ProviderSettings],
    ) -> None:
        """Warn of what is taken over, and of members for which that is not known."""
        # A provider that refuses objects that exist takes nothing over.
        refusing = {
            name
            for name, provider in settings.items()
            if not provider.is_on("upsertExistingObjects")
        }
        for warning in taken_over(
            [arrival for arrival in arriving if arrival.cluster not in refusing], live_in(answers)
        ):
            pulumi.log.warn(str(warning), self.parent)
        unasked = sorted(
            {arrival.cluster for arrival in arriving if answers[arrival.cluster].objects is None}
            - settings.keys()
        )
        if unasked:
            pulumi.log.warn(_UNASKED.format(members=few(unasked)), self.parent)

    def _silent(self, name: str) -> Problem:
        kept = [
            str(departure.key)
            for departure in self.plan.departures
            if (departure.cluster, departure.fate) == (name, Fate.DELETED)
        ]
        what = Message(
            "no-longer-member-does",
            "is no longer a member, and does not answer: {kept} cannot be deleted there",
            kept=few(kept),
        )
        return Problem(what, subject=f"member {name}", hint=_SILENT.format(name=name))
