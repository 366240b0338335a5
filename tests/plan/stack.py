"""A stack and its clusters, as an engine would leave them: what lives there, and with which uid."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Collection, Mapping
from itertools import count
from pathlib import Path
from typing import Any

import attrs

from fleet_components import Fleet
from fleet_components.components.refusal import RefusedPlanError
from fleet_components.model.manifest import Manifest, ObjectKey
from fleet_components.plan import names
from fleet_components.plan.fleet_plan import FleetPlan
from fleet_components.plan.names import Urn
from fleet_components.plan.own_outputs import LOST
from fleet_components.review.planning.past import StateFile
from fleet_components.review.planning.survey import CommandLine, survey
from fleet_components.testing import ProgramRun, Registration, StackState, kubeconfig, run_program

FLEET, PROJECT, STACK = "dev", "project", "stack"
Pair = tuple[str, ObjectKey]
Documents = Collection[Mapping[str, Any]]


@attrs.frozen
class Seen:
    """One run of a program, and the plan that it made."""

    run: ProgramRun
    plan: FleetPlan | None

    @property
    def refused(self) -> bool:
        """Whether the program refused its plan."""
        return isinstance(self.run.error, RefusedPlanError)


@attrs.define
class Stack:
    """A stack with its clusters.

    Attributes:
        state: what the engine remembers.
        live: the uid of every object that lives on a cluster.
        unreachable: clusters that are gone: nothing is deleted there.
        called: the cluster behind a member's name, where it is called otherwise.
        shown: whether the kubeconfig of a member says which cluster it is.
        fleet: the name of the fleet.
        name: the name of the stack.
    """

    state: StackState = StackState()
    live: dict[Pair, int] = attrs.field(factory=dict)
    unreachable: set[str] = attrs.field(factory=set)
    called: dict[str, str] = attrs.field(factory=dict)
    shown: bool = False
    fleet: str = FLEET
    name: str = STACK
    _uids: Any = attrs.field(factory=count)

    def program(
        self,
        documents: Documents,
        config: Mapping[str, Any],
        fails: Collection[str] = (),
        breaks: Callable[[Registration], bool] = lambda _: False,
    ) -> Seen:
        """Run the program, which may fail; the stack stays as it is."""
        plans: list[FleetPlan] = []

        def refused(registration: Registration) -> bool:
            failing = names.is_object(registration.type) and _cluster(registration.name) in fails
            return breaks(registration) or failing

        with tempfile.TemporaryDirectory() as folder:
            self._write(folder, documents)
            members = [
                document["metadata"]["name"]
                for document in documents
                if document["kind"] == "MemberCluster"
            ]
            given = {
                "source": folder,
                "kubeconfigs": {name: self._kubeconfig(name) for name in members},
                **config,
            }
            run = run_program(
                lambda: plans.append(Fleet.from_config(self.fleet).plan),
                state=self.state,
                stack=self.name,
                config={f"fleet:{key}": value for key, value in given.items()},
                fails=refused,
            )
        error = run.error
        return Seen(
            run, error.plan if isinstance(error, RefusedPlanError) else plans[0] if plans else None
        )

    def directory(
        self, documents: Documents, confirm: Collection[str] = (), lost: Collection[str] = ()
    ) -> FleetPlan:
        """The plan of the directory alone, from the exported state."""
        with tempfile.TemporaryDirectory() as folder:
            self._write(folder, documents)
            state = StateFile("state.json", self.state) if self.state.resources else StateFile()
            _, past, _ = state.only("fleet")
            told = CommandLine(
                state=state,
                stack=f"organization/{PROJECT}/{STACK}",
                confirm=frozenset(confirm),
                lost=frozenset(lost),
                returned=frozenset(
                    {name for name, member in past.members.items() if member.state == LOST}
                    - set(lost)
                ),
            )
            return survey([Path(folder)], told).plans[0]

    def carry_out(self, run: ProgramRun) -> None:
        """What an engine does: it writes what is registered, and deletes at the end what is registered no more."""
        former: set[str] = set()
        for registration in run.registrations:
            old = self._old(registration)
            former.add(old or registration.urn)
            if names.is_object(registration.type):
                pair = self._lives(registration.urn)
                if pair not in self.live:  # what is there already is taken up
                    self.live[pair] = next(self._uids)
        if run.error is None:
            kept = {r.urn for r in self.state.resources.values() if r.urn in self._retained}
            for urn in self.state.resources.keys() - former:
                if names.is_object(Urn.parse(urn).type) and urn not in kept:
                    self._delete(self._lives(urn))
        self._retained = {
            *(r.urn for r in run.registrations if r.options.get("retainOnDelete")),
            *(self._retained if run.error else ()),
        }
        moved = former - {registration.urn for registration in run.registrations}
        after = run.state().resources
        self.state = StackState({urn: item for urn, item in after.items() if urn not in moved})

    _retained: set[str] = attrs.field(factory=set)

    def _kubeconfig(self, member: str) -> str:
        if not self.shown:
            return kubeconfig(member)
        cluster = self.called.get(member, member)
        return kubeconfig(member).replace("http://127.0.0.1:9", f"https://{cluster}.example")

    def _lives(self, urn: str) -> Pair:
        cluster, key = pair_of(urn)
        return self.called.get(cluster, cluster), key

    def _old(self, registration: Registration) -> str:
        known = (registration.urn, *registration.aliases)
        return next((urn for urn in known if urn in self.state.resources), "")

    def _delete(self, pair: Pair) -> None:
        if pair[0] not in self.unreachable:
            self.live.pop(pair, None)

    def _write(self, folder: str, documents: Documents) -> None:
        (Path(folder) / "fleet.yaml").write_text("\n---\n".join(map(json.dumps, documents)))


def changes(stack: Stack, run: ProgramRun) -> dict[str, str]:
    """What happens to each Kubernetes object, by URN: create, update or delete; what stays is left out."""
    before, found, known = stack.state.resources, {}, set()
    for registration in run.registrations:
        old = stack._old(registration)
        known.add(old or registration.urn)
        if names.is_object(registration.type):
            after = run.state().resources[registration.urn].inputs
            if not old:
                found[registration.urn] = "create"
            elif before[old].inputs != after:
                found[registration.urn] = "update"
    gone = {urn: "delete" for urn in before.keys() - known if names.is_object(Urn.parse(urn).type)}
    return found | gone


def pair_of(urn: str) -> Pair:
    """The member and the object of a URN."""
    item = Urn.parse(urn)
    place = names.place_of(item.name.partition("/")[0], item)
    assert place is not None
    return place.cluster, place.object


def _cluster(name: str) -> str:
    return name.rpartition("@")[2].partition("/")[0]


def key_of(data: Mapping[str, Any]) -> ObjectKey:
    """The key of an object."""
    return Manifest(data).key
