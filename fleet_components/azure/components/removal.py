"""The guard of what a fleet has provisioned: a hub, a cluster or a resource group goes only if that
is confirmed.

What stands is read from the state, so a refusal comes before anything is registered, in previews
and updates alike. The records are read, not the resources of Azure: a record says which fleet of
the stack a resource belongs to. It is made before its resource, and deleted after it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator

import attrs
import pulumi

from fleet_components.azure.components.hub import AzureHub, AzureHubArgs, OwnHub
from fleet_components.azure.dynamic import Provisioned
from fleet_components.azure.values.aks_member import AksMember
from fleet_components.azure.values.member import FleetMember
from fleet_components.components.config import confirmed
from fleet_components.components.past import read_stored
from fleet_components.model.message import Message
from fleet_components.model.problem import FleetError, Problem
from fleet_components.model.text import few
from fleet_components.plan import names
from fleet_components.plan.guard import Guard, allowing, loss_token, not_tokens
from fleet_components.plan.state import MEND, StoredResource

HUB, CLUSTER, ENTRY, GROUP = "hub", "cluster", "member", "group"
_WORDS = {
    HUB: "the hub {}",
    CLUSTER: "the AKS cluster {}",
    ENTRY: "the entry of {} in the hub",
    GROUP: "the resource group {}{} with everything in it",
}
_SHOWN = 10


@attrs.frozen(order=True)
class Thing:
    """A part of a fleet whose removal deletes something in Azure.

    Attributes:
        kind: ``hub``, ``cluster`` (one that the fleet creates), ``member`` (the entry of a cluster
            that joined), or ``group`` (a resource group).
        name: its name in Azure; of a cluster and of an entry that of the member.
        subscription: of a resource group, the ID of its subscription in lower case, since each may
            have one of that name; empty for the fleet's own.
    """

    kind: str
    name: str
    subscription: str = ""

    def __str__(self) -> str:
        where = f" of subscription {self.subscription}" if self.subscription else ""
        # A later version may have recorded a kind that is not known here.
        return _WORDS.get(self.kind, f"the {self.kind} {{}}").format(self.name, where)

    @property
    def key(self) -> str:
        """Key among all parts of a fleet. It makes tokens: words may be said better one day, a
        token stays.
        """
        return "/".join(filter(None, (self.kind, self.name, self.subscription)))


def things_of(
    fleet: str,
    hub: AzureHubArgs | AzureHub | OwnHub | None,
    members: Iterable[FleetMember],
    existing_groups: Collection[str],
    subscription_of: Callable[[FleetMember], str],
) -> tuple[Thing, ...]:
    """Return what a fleet provisions.

    Args:
        fleet: the fleet's name.
        hub: its hub; only one that the fleet creates counts.
        members: its members.
        existing_groups: names of resource groups that it does not create.
        subscription_of: returns the subscription that a member's cluster is made in; empty for the
            fleet's own.
    """
    # Dicts as sets that keep their order.
    found: dict[Thing, None] = {}
    groups: dict[Thing, None] = {}
    if isinstance(hub, AzureHubArgs):
        found[Thing(HUB, hub.fleet_name or fleet)] = None
        groups[Thing(GROUP, hub.resource_group)] = None
    for member in members:
        if isinstance(member, AksMember):
            found[Thing(CLUSTER, member.name)] = None
            groups[Thing(GROUP, member.resource_group, subscription_of(member))] = None
        # Azure's fleet does not take a cluster from outside of Azure, which has no ID (cluster is
        # None).
        elif isinstance(hub, OwnHub) or (hub is not None and member.cluster is not None):
            found[Thing(ENTRY, member.name)] = None
    return (*found, *(group for group in groups if group.name not in existing_groups))


@attrs.frozen
class RemovalGuard:
    """Compares what one fleet of a stack has provisioned with what it declares.

    Attributes:
        fleet: the fleet's name.
        standing: what stands, as the state has it.
        confirm: tokens of intended removals, of the program and of the configuration.
        known_as: its name, and former ones.
    """

    fleet: str
    standing: frozenset[Thing]
    confirm: frozenset[str]
    known_as: frozenset[str] = frozenset()

    @classmethod
    def of(
        cls, fleet: str, confirm: Iterable[str], opts: pulumi.ResourceOptions | None
    ) -> RemovalGuard:
        """Return the guard of a fleet, with what the state has of it.

        Args:
            fleet: its name.
            confirm: tokens that the program gives; those of ``fleet:confirm`` are added.
            opts: its resource options, whose aliases tell its former names.

        Raises:
            FleetError: ``fleet:confirm`` is no list of names, or the state is damaged.
        """
        # A record has the name that its fleet had in the last update.
        fleets = frozenset({fleet, *_previous(opts)})
        standing = (_recorded(resource) for resource in read_stored((names.PROVISIONED,)))
        return cls(
            fleet,
            frozenset(thing for of, thing in standing if of in fleets),
            confirmed(confirm),
            fleets,
        )

    def problems(self, declared: Collection[Thing]) -> Iterator[Problem]:
        """Yield a refusal of all removals, unless a token allows them, and a problem for each text
        that is no token.
        """
        yield from not_tokens(self.confirm)
        removed = self._removed(declared)
        what = Message("would-delete", "would delete {removed}", removed=few(removed, _SHOWN))
        refused = Guard(confirm=self.confirm).refuse(self._subject, what, self._keys(declared))
        if removed and refused:
            yield refused

    def allowed(self, declared: Collection[Thing]) -> str:
        """Return what a token allows to be deleted, with the token; empty if nothing is."""
        removed = self._removed(declared)
        if not removed:
            return ""
        token = loss_token(self._subject, self._keys(declared))
        return f"deletes {few(removed, _SHOWN)}, as {allowing(token)}"

    @property
    def _subject(self) -> str:
        return f"AzureFleet {self.fleet}"

    def _removed(self, declared: Collection[Thing]) -> list[Thing]:
        # A set has no order, and the message should be the same in each run.
        return sorted(self.standing.difference(declared))

    def _keys(self, declared: Collection[Thing]) -> list[str]:
        return [thing.key for thing in self._removed(declared)]

    def record(self, thing: Thing, opts: pulumi.ResourceOptions) -> Provisioned:
        """Register the record of a thing, which must depend on it."""
        name = f"{self.fleet}-{thing.key.replace('/', '-')}"
        return Provisioned(name, self.fleet, thing.kind, thing.name, thing.subscription, opts)


def _recorded(resource: StoredResource) -> tuple[str, Thing]:
    """Return the fleet and the thing of a record."""
    fleet, kind, key = (resource.outputs.get(field) for field in ("fleet", "kind", "key"))
    if not all(isinstance(part, str) for part in (fleet, kind, key)):
        raise FleetError(
            [
                Problem(
                    Message("damaged-no-fleet-kind", "is damaged: it has no fleet, kind or key"),
                    ("outputs",),
                    MEND,
                    resource.urn,
                )
            ]
        )
    return str(fleet), Thing(str(kind), str(key), str(resource.outputs.get("subscription") or ""))


def _previous(opts: pulumi.ResourceOptions | None) -> Iterator[str]:
    """Yield the names in the aliases of a component, as far as they are known before it is made."""
    # An alias may also be an output, which is unknown at this point.
    for alias in (opts.aliases if opts else None) or ():
        if isinstance(alias, pulumi.Alias) and isinstance(alias.name, str):
            yield alias.name
        elif isinstance(alias, str) and names.is_urn(alias):
            yield names.Urn.parse(alias).name
