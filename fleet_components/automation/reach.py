"""Access to the members and to the hub of a stack: by given kubeconfigs, those of its state, or its
configuration.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import TypeVar

import attrs

from fleet_components.automation.engine import Engine
from fleet_components.live.connection import Connection, ask_cluster
from fleet_components.live.marks import connecting
from fleet_components.model.message import Message
from fleet_components.model.problem import FleetError, Problem
from fleet_components.model.text import few
from fleet_components.plan.state import StackState
from fleet_components.review.planning.asked import hub_kubeconfig
from fleet_components.review.planning.kubeconfigs import (
    MemberName,
    configured,
    kubeconfigs,
    listed_kubeconfigs,
)

T = TypeVar("T")
_HINT = "set fleet:kubeconfigs of the stack, or give --kubeconfig MEMBER=PATH"


@attrs.define
class Reach:
    """Access to the clusters of a stack; what was found stays known, with or without the state.

    Attributes:
        folder: the folder of the program, which paths of the configuration are relative to.
        engine: the stack.
        given: files of kubeconfigs of members that count before all others, by member.
        hub_file: the same of the hub; None for that of the stack.
        timeout: how long a cluster has for its answers, in seconds.
    """

    folder: Path
    engine: Engine
    given: Mapping[str, Path]
    hub_file: Path | None
    timeout: float
    _members: dict[str, str] = attrs.field(factory=dict, init=False)
    _hub: str = attrs.field(default="", init=False)

    def find(self, members: Collection[str], fleet: str, state: StackState) -> None:
        """Find the kubeconfigs of members.

        Args:
            members: their names.
            fleet: the fleet.
            state: the state of the stack.

        Raises:
            FleetError: some are not known, or cannot be read.
        """
        if set(members) <= self._members.keys():
            return
        # In this order: a given file, the state of the stack, its configuration.
        found = kubeconfigs(state, self.given, [MemberName(fleet, name) for name in members])
        self._members.update({member.member: text for member, text in found.items()})
        listed = listed_kubeconfigs(self.engine.settings())
        for name in sorted(set(members) & listed.keys() - self._members.keys()):
            self._members[name] = configured(self.folder, listed[name], name)
        unknown = sorted(set(members) - self._members.keys())
        if unknown:
            raise FleetError(
                [
                    Problem(
                        Message(
                            "no-kubeconfig-known",
                            "no kubeconfig of {unknown} is known",
                            unknown=few(unknown),
                        ),
                        subject="members",
                        hint=_HINT,
                    )
                ]
            )

    def on_member(self, member: str, work: Callable[[Connection], T]) -> T:
        """Return what comes of requests to a member that was found.

        Raises:
            FleetError: it does not answer, or refuses something.
        """
        return connecting(self._members[member], f"member {member}", work, timeout=self.timeout)

    def on_hub(self, work: Callable[[Connection], T], state: StackState, known: str) -> T:
        """Return what comes of requests to the hub.

        Args:
            work: makes the requests.
            state: the state of the stack.
            known: uid of the hub that the stack has used; empty if none is known.

        Raises:
            FleetError: its kubeconfig is not known, it is another hub, does not answer, or refuses
                something.
        """
        if not self._hub:
            named = hub_kubeconfig(state, self.hub_file)
            text = named or configured(self.folder, self.engine.settings().get("fleet:hub"), "hub")
            # Asked once: the text is kept below. A uid of None is a hub that does not answer now,
            # which the work reports.
            uid = ask_cluster(text, timeout=self.timeout).uid if known else None
            if uid and uid != known:
                what = Message(
                    "another-one-than-stack",
                    "is another one than this stack has used: its uid is {uid}, and that of the"
                    " other {known}",
                    uid=uid,
                    known=known,
                )
                raise FleetError(
                    [
                        Problem(
                            what,
                            subject="the hub",
                            hint="give the kubeconfig of the other with --hub",
                        )
                    ]
                )
            self._hub = text
        return connecting(self._hub, "the hub", work, timeout=self.timeout)
