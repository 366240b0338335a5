"""Role assignments in a fleet by name of role, for the whole fleet or for one managed namespace."""

from __future__ import annotations

from collections.abc import Iterator

import attrs
import pulumi
from pulumi_azure_native import authorization

from fleet_components.azure.components.arm import children_of
from fleet_components.azure.components.roles import role_definition_id, role_problems
from fleet_components.azure.values import checks, names
from fleet_components.components.refusal import Arguments, expect, refuse
from fleet_components.model.problem import FieldPath, Problem
from fleet_components.model.typed import Later

_KINDS = ("User", "Group", "ServicePrincipal")


@attrs.frozen(kw_only=True)
class Grant(Arguments):
    """A role for one person, group or pipeline.

    Attributes:
        to: a short name of the grantee, for the resource's name.
        principal: the grantee's object ID in Entra ID. A Pulumi output is accepted.
        role: the name of a built-in role, as in ``Azure Kubernetes Fleet Manager RBAC Reader``.
        kind: ``User``, ``Group`` or ``ServicePrincipal`` (pipelines and identities).
        namespace: a managed namespace of the fleet; empty for the whole fleet.
    """

    to: str
    principal: str | Later
    role: str
    kind: str = "Group"
    namespace: str = ""

    def problems(self, path: FieldPath) -> Iterator[Problem]:
        """Yield a problem for each value that Azure would reject."""
        yield from names.MEMBER.problems(self.to, (*path, "to"))
        if isinstance(self.principal, str):
            yield from names.OBJECT_ID.problems(self.principal, (*path, "principal"))
        yield from role_problems(self.role, (*path, "role"))
        yield from checks.choice_of(self.kind, _KINDS, (*path, "kind"))
        if self.namespace:
            yield from names.NAMESPACE.problems(self.namespace, (*path, "namespace"))

    @property
    def key(self) -> str:
        """Key that is unique among the grants of one scope; another role or person is another assignment."""
        role = self.role.removeprefix("Azure Kubernetes ").lower().replace(" ", "-")
        return "-".join(filter(None, (self.to, role, self.namespace)))


@attrs.frozen(kw_only=True)
class AzureAccessArgs(Arguments):
    """Arguments of the role assignments of one scope.

    Attributes:
        scope: the ID of a fleet, a cluster or a resource group.
        grants: the roles to assign, and to whom.
    """

    scope: pulumi.Input[str]
    grants: tuple[Grant, ...]


class AzureAccess(pulumi.ComponentResource):
    """Role assignments of one scope. New ones can take some minutes to be effective, on a private hub an hour.

    Used alone, it does not wait for them: only the hub waits for its ``grants``, see ``role_wait`` there.

    Attributes:
        assignments: the role assignments by key of their grant.
    """

    def __init__(self, name: str, args: AzureAccessArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        expect(type(self), name, args, AzureAccessArgs, opts)
        refuse(grant_problems(args.grants), f"AzureAccess {name}")
        super().__init__("fleet:index:AzureAccess", name, None, opts)
        mine = children_of(self, opts)
        self.assignments = {grant.key: _assignment(name, grant, args.scope, mine) for grant in args.grants}
        self.register_outputs({"assignments": sorted(self.assignments)})


def grant_problems(grants: tuple[Grant, ...]) -> Iterator[Problem]:
    """Yield a problem for each value in the grants of one scope that Azure would reject."""
    for position, grant in enumerate(grants):
        yield from grant.problems(("grants", position))
    yield from checks.unique((grant.key for grant in grants), "grant", ("grants",), "to")


def _assignment(
    name: str, grant: Grant, scope: pulumi.Input[str], opts: pulumi.ResourceOptions
) -> authorization.RoleAssignment:
    at = pulumi.Output.concat(scope, f"/managedNamespaces/{grant.namespace}") if grant.namespace else scope
    return authorization.RoleAssignment(
        f"{name}-{grant.key}",
        scope=at,
        principal_id=grant.principal,
        principal_type=grant.kind,
        role_definition_id=role_definition_id(grant.role, scope),
        opts=opts,
    )
