"""Members as the state of a stack knows them, under the names that they have now."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TypeVar

import attrs

from fleet_components.model.manifest import ObjectKey
from fleet_components.plan.guard import loss_token
from fleet_components.plan.own_outputs import DECLARED, MemberOutputs
from fleet_components.plan.standing import read_written
from fleet_components.rollout.rollout import Done

T = TypeVar("T")


@attrs.frozen(kw_only=True)
class KnownMember:
    """State of a member, as remembered from the last run.

    Attributes:
        state: ``member`` or ``lost``.
        identifier: the provider's identifier of the cluster; it stays while the cluster is the
            same.
        identity: what identified the cluster before it could be asked; empty if nothing did.
        uid: the cluster's own uid; empty if it was never read.
        forgotten: objects that the fleet had there when it was lost, as
            ``apiVersion|Kind|namespace|name``.
        formerly: earlier names of the member, the last one at the end.
        recorded: True if it has a record of its own; False if only the roster names it, which is
            registered last: an update that broke has renamed it.
        enrolled: True if the roster names it.
        kept: those that it had there and that outlive their subject, in the same form.
        ran: what ran there when it was lost, by subject.
        own_provider: True if its objects may belong to a provider that the program has brought.
        anew: the cluster's own uid, if the name has led to another cluster before; else empty.
    """

    state: str = DECLARED
    identifier: str = ""
    identity: str = ""
    uid: str = ""
    forgotten: tuple[str, ...] = ()
    formerly: tuple[str, ...] = ()
    recorded: bool = True
    enrolled: bool = True
    kept: tuple[str, ...] = ()
    ran: Mapping[str, Done] = attrs.field(factory=dict)
    own_provider: bool = False
    anew: str = ""

    @property
    def remembered(self) -> Mapping[ObjectKey, str]:
        """Objects that it may still have from before it was lost, each with the apiVersion in which
        it was sent.
        """
        found = map(read_written, (*self.forgotten, *self.kept))
        return {key: version for version, key in found}

    def memory_token(self, name: str) -> str:
        """Return the token that lets the fleet forget what the member of this name may still
        have.
        """
        return loss_token(f"member {name}", (*self.forgotten, *self.kept))

    def is_cluster(self, other: KnownMember) -> bool | None:
        """Return whether two members are one cluster; None if neither uids nor identities show
        it.
        """
        if self.uid and other.uid:
            return self.uid == other.uid
        # Different addresses may lead to one cluster, so that they prove nothing.
        return True if self.identity and self.identity == other.identity else None


def known_from(outputs: MemberOutputs) -> KnownMember:
    """Return what the record of a member says of it."""
    return KnownMember(
        identifier=outputs.identifier,
        identity=outputs.identity,
        uid=outputs.uid,
        forgotten=outputs.forgotten,
        formerly=outputs.formerly,
        kept=outputs.kept,
        ran=outputs.ran,
        own_provider=outputs.own_provider,
        anew=outputs.anew,
    )


def renamed_first(by_name: Mapping[str, T], new: Callable[[str], str]) -> list[tuple[str, T]]:
    """Return the items, renamed ones first."""
    # False sorts before True, and equal items keep their order.
    return sorted(by_name.items(), key=lambda item: new(item[0]) == item[0])


def renamed_last(by_name: Mapping[str, T], new: Callable[[str], str]) -> list[tuple[str, T]]:
    """Return the items, renamed ones last."""
    return sorted(by_name.items(), key=lambda item: new(item[0]) != item[0])


def under_current_names(
    members: Mapping[str, KnownMember], cluster: Callable[[str], str]
) -> dict[str, KnownMember]:
    """Return the members by current name; of several records of one the member's own counts, and
    then a renamed one.
    """
    found: dict[str, KnownMember] = {}
    for name, member in renamed_first(members, cluster):
        current = cluster(name)
        other = found.get(current)
        # Renamed records come first, so that the member's own record is the last and counts.
        last = member if other is None or member.recorded else other
        both = (*(other.formerly if other else ()), *earlier_names(member.formerly, name, current))
        found[current] = attrs.evolve(last, formerly=tuple(dict.fromkeys(both)))
    return found


def earlier_names(formerly: Iterable[str], name: str, current: str) -> tuple[str, ...]:
    """Return the earlier names of something that the state calls by one name and the source by
    another.
    """
    earlier = (known for known in (*formerly, name) if known != current)
    # Of a name that occurs twice, the last place counts.
    return tuple(reversed(dict.fromkeys(reversed(tuple(earlier)))))
