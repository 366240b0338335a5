"""What Azure refuses: the IDs of things, what each needs while it exists, and who may do what.

Both stand-ins judge by it: the mocks, which see what a program registers, and the plugin on the engine, which sees every
creation and deletion in its order.

Stricter than Azure: a resource group with something in it, which Azure would delete with all it holds.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import Any

import attrs

from fleet_components.azure.components.arm import HUB_ADMIN, NETWORK_CONTRIBUTOR, ROLES

_GENERIC, _GROUP = "azure-native:resources:Resource", "azure-native:resources:ResourceGroup"
_ASSIGNMENT = "azure-native:authorization:RoleAssignment"
_IDENTITY = "azure-native:managedidentity:UserAssignedIdentity"
_CLUSTER = "azure-native:containerservice:ManagedCluster"
# By type token: the namespace, then types and the inputs that name them, from the outermost to the thing itself.
_AKS, _NETWORK = "Microsoft.ContainerService", "Microsoft.Network"
_IN_CLUSTER, _IN_NETWORK = (
    ("managedClusters", "resourceName"),
    ("virtualNetworks", "virtualNetworkName"),
)
_PATHS: Mapping[str, tuple[str, tuple[tuple[str, str], ...]]] = {
    _CLUSTER: (_AKS, (_IN_CLUSTER,)),
    "azure-native:containerservice:AgentPool": (
        _AKS,
        (_IN_CLUSTER, ("agentPools", "agentPoolName")),
    ),
    "azure-native:containerservice:MaintenanceConfiguration": (
        _AKS,
        (_IN_CLUSTER, ("maintenanceConfigurations", "configName")),
    ),
    "azure-native:network:VirtualNetwork": (_NETWORK, (_IN_NETWORK,)),
    "azure-native:network:Subnet": (_NETWORK, (_IN_NETWORK, ("subnets", "subnetName"))),
    _IDENTITY: ("Microsoft.ManagedIdentity", (("userAssignedIdentities", "resourceName"),)),
}


@attrs.frozen
class Thing:
    """Something in a subscription.

    Attributes:
        type: its type token.
        name: its Pulumi name, for messages.
        subscription: that of the provider which it goes through.
        inputs: in wire form.
    """

    type: str
    name: str
    subscription: str
    inputs: Mapping[str, Any]

    @property
    def id(self) -> str:
        """Its resource ID."""
        if self.type == _ASSIGNMENT:
            return f"{self.inputs['scope']}/providers/Microsoft.Authorization/roleAssignments/{self.name}"
        if self.type == _GROUP:
            return self.group
        if self.type == _GENERIC:
            own = [
                self.inputs["parentResourcePath"],
                self.inputs["resourceType"],
                self.inputs["resourceName"],
            ]
            namespace = self.inputs["resourceProviderNamespace"]
            return f"{self.group}/providers/{namespace}/{'/'.join(filter(None, own))}"
        namespace, path = _PATHS.get(self.type, (f"Mock/{self.type}", (("", ""),)))
        parts = "/".join(f"{kind}/{self.inputs.get(field, self.name)}" for kind, field in path)
        return f"{self.group}/providers/{namespace}/{parts}"

    @property
    def group(self) -> str:
        """The ID of its resource group."""
        return f"/subscriptions/{self.subscription}/resourceGroups/{self.inputs.get('resourceGroupName', 'none')}"

    @property
    def kind(self) -> str:
        """Its type in Azure, without the namespace: ``fleets/members`` for example."""
        if self.type == _GENERIC:
            outer = str(self.inputs["parentResourcePath"]).partition("/")[0]
            return "/".join(filter(None, (outer, self.inputs["resourceType"])))
        return self.type.rpartition(":")[2]

    @property
    def parent(self) -> str:
        """The ID of the thing that it is part of, a resource group for most; empty if it is part of none."""
        path = self.id.partition("/providers/")[2].split("/")
        if self.type in (_GROUP, _ASSIGNMENT):
            return ""
        return self.id.rsplit("/", 2)[0] if len(path) > 3 else self.group

    @property
    def uses(self) -> Iterator[str]:
        """The IDs of the other things that must be there as long as it is."""
        yield from self.identities
        yield from self._subnets
        if self.type == _ASSIGNMENT:
            yield str(self.inputs["scope"]).partition("/managedNamespaces/")[0]
        if self.kind == "fleets/members":
            yield self.inputs["properties"]["clusterResourceId"]
        if self.kind in ("fleets/autoUpgradeProfiles", "fleets/updateRuns"):
            yield from filter(None, [self.inputs["properties"].get("updateStrategyId")])

    @property
    def roles(self) -> Iterator[tuple[str, str]]:
        """The scopes at which someone must be a Network Contributor, and who: an identity's ID, or ``fleet-rp``."""
        yield from self.roles_of(self.identities)
        if self.kind == "fleets" and (node := self._hub.get("agentProfile", {})).get("subnetId"):
            yield node["subnetId"], "fleet-rp"

    def roles_of(self, identities: Iterable[str]) -> Iterator[tuple[str, str]]:
        """The subnets at which these identities must be Network Contributors."""
        return ((subnet, identity) for subnet in self._subnets for identity in identities)

    @property
    def identities(self) -> tuple[str, ...]:
        """The IDs of its user-assigned identities."""
        return tuple((self.inputs.get("identity") or {}).get("userAssignedIdentities") or ())

    @property
    def has_hub(self) -> bool:
        """Whether it is a fleet with a hub cluster."""
        return self.kind == "fleets" and bool(self._hub)

    @property
    def grants(self) -> tuple[str, str, str]:
        """The scope, role and principal of a role assignment."""
        guid = str(self.inputs["roleDefinitionId"]).rpartition("/")[2]
        role = next((name for name, found in ROLES.items() if found == guid), guid)
        return str(self.inputs["scope"]), role, str(self.inputs["principalId"])

    @property
    def _hub(self) -> Mapping[str, Any]:
        return (self.inputs.get("properties") or {}).get("hubProfile") or {}

    @property
    def _subnets(self) -> Iterator[str]:
        if self.kind == "fleets":
            node, server = (
                self._hub.get("agentProfile", {}),
                self._hub.get("apiServerAccessProfile", {}),
            )
            yield from filter(None, (node.get("subnetId"), server.get("subnetId")))
        elif self.type == _CLUSTER:
            server = self.inputs.get("apiServerAccessProfile") or {}
            pools = self.inputs.get("agentPoolProfiles") or ()
            yield from dict.fromkeys(
                filter(None, [server.get("subnetId"), *chain(*map(_of_pool, pools))])
            )
        else:
            yield from filter(None, _of_pool(self.inputs))


def _of_pool(inputs: Mapping[str, Any]) -> tuple[str | None, ...]:
    """The subnets of the nodes and of the pods of a pool."""
    return inputs.get("vnetSubnetID"), inputs.get("podSubnetID")


def principal(identity: str) -> str:
    """The principal ID of a user-assigned identity."""
    digits = (identity.rpartition("/")[2].encode().hex() + "0" * 32)[:32]
    return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))


def same(text: str, other: str) -> bool:
    """Whether two IDs are those of one thing."""
    return text.lower() == other.lower()


class Refusal(Exception):
    """What Azure says instead of doing it, beginning with its code."""


@attrs.define
class Cloud:
    """All that is there.

    Attributes:
        things: by ID in lower case.
        existing: IDs of what was there before, and beginnings of IDs.
        registered: the subscriptions whose providers may be used; empty for any.
        fleet_rp: the object ID of Fleet Manager's own service principal; empty for any.
        ineffective: the IDs, in lower case, of role assignments that have not reached yet.
        granted: the principals of identities that were there before and may do only what is granted here; all other
            ones may do whatever is needed.
        strict_hub: only who was made the hub's cluster admin here may write to it.
    """

    things: dict[str, Thing] = attrs.field(factory=dict)
    existing: tuple[str, ...] = ()
    registered: tuple[str, ...] = ()
    fleet_rp: str = ""
    ineffective: tuple[str, ...] = ()
    granted: tuple[str, ...] = ()
    strict_hub: bool = False

    def put(self, thing: Thing) -> None:
        """Create or update something.

        Raises:
            Refusal: Azure would not take it.
        """
        self._reach(thing.subscription)
        if thing.parent and not self._is_there(thing.parent):
            code = (
                "ResourceGroupNotFound"
                if same(thing.parent, thing.group)
                else "ParentResourceNotFound"
            )
            raise Refusal(f"{code}: {thing.parent} of {thing.name} is not there")
        for used in thing.uses:
            if not self._is_there(used):
                raise Refusal(f"ResourceNotFound: {used}, which {thing.name} names, is not there")
        parent = self.things.get(thing.parent.lower())
        for scope, who in (*thing.roles, *thing.roles_of(parent.identities if parent else ())):
            if not self._may(scope, who):
                raise Refusal(
                    f"LinkedAuthorizationFailed: {who} is no {NETWORK_CONTRIBUTOR} of {scope}"
                )
        self.join(thing)
        self.things[thing.id.lower()] = thing

    def delete(self, identity: str) -> None:
        """Delete something.

        Raises:
            Refusal: something that is there needs it.
        """
        gone = self.things.get(identity.lower())
        if gone is None:
            return
        self._reach(gone.subscription)
        for other in self.things.values():
            if other is not gone and any(
                same(identity, each) for each in (other.parent, *other.uses)
            ):
                raise Refusal(f"InUse: {identity} is used by {other.id}")
        del self.things[identity.lower()]

    def credentials(self, identity: str) -> None:
        """Ask for the kubeconfig of a fleet's hub or of a cluster.

        Raises:
            Refusal: there is none, or nothing of that ID in the subscription that is asked.
        """
        self._reach(identity.split("/")[2])
        thing = self.things.get(identity.lower())
        if thing is None and not self._is_there(identity):
            raise Refusal(f"ResourceNotFound: {identity} is not there")
        if thing is not None and thing.kind == "fleets" and not thing.has_hub:
            raise Refusal(f"BadRequest: {identity} has no hub cluster")

    def hub(self, member: str = "") -> None:
        """Write to the hub, about a member.

        Raises:
            Refusal: there is no hub, the member has not joined, or its user may not write about members.
        """
        fleets = [each for each in self.things.values() if each.has_hub]
        if not fleets:
            raise Refusal("the hub does not answer")
        members = [
            each.inputs["resourceName"]
            for each in self.things.values()
            if each.kind == "fleets/members"
        ]
        if member and member not in members:
            raise Refusal(f'memberclusters.cluster.kubernetes-fleet.io "{member}" not found')
        grants = [
            each.grants
            for each in self.things.values()
            if each.type == _ASSIGNMENT and self._holds(each)
        ]
        admins = [at for at, role, _ in grants if role == HUB_ADMIN]
        if self.strict_hub and not any(same(at, fleet.id) for at in admins for fleet in fleets):
            raise Refusal("memberclusters.cluster.kubernetes-fleet.io is forbidden")

    def _holds(self, assignment: Thing) -> bool:
        return assignment.id.lower() not in self.ineffective

    def _reach(self, subscription: str) -> None:
        if self.registered and subscription.lower() not in map(str.lower, self.registered):
            raise Refusal(
                f"SubscriptionNotFound: {subscription}, or Microsoft.ContainerService is not registered there"
            )

    def _is_there(self, identity: str) -> bool:
        if identity.lower() in self.things:
            return True
        return any(identity.lower().startswith(each.lower()) for each in self.existing)

    def _may(self, scope: str, who: str) -> bool:
        if (
            who != "fleet-rp"
            and who.lower() not in self.things
            and principal(who) not in self.granted
        ):
            return True
        wanted = self.fleet_rp if who == "fleet-rp" else principal(who)
        grants = (
            each for each in self.things.values() if each.type == _ASSIGNMENT and self._holds(each)
        )
        others = [principal(each.id) for each in self.things.values() if each.type == _IDENTITY]
        for at, role, whom in (each.grants for each in grants):
            fits = whom == wanted if wanted else whom not in others
            if (
                fits
                and role == NETWORK_CONTRIBUTOR
                and f"{scope}/".lower().startswith(f"{at}/".lower())
            ):
                return True
        return False

    def join(self, thing: Thing) -> None:
        """Refuse a second member with the cluster of another one.

        Raises:
            Refusal: there is one.
        """
        for other in self.things.values():
            if thing.kind == other.kind == "fleets/members" and not same(other.id, thing.id):
                mine, its = (
                    each.inputs["properties"]["clusterResourceId"] for each in (thing, other)
                )
                if same(mine, its):
                    raise Refusal(f"ClusterAlreadyJoinedAnotherFleet: {mine} is {other.id}")
