"""The point in an update at which role assignments have reached."""

from __future__ import annotations

from collections.abc import Sequence

import pulumi
from pulumi_azure_native import authorization

from fleet_components.azure.dynamic import RolesReach


def roles_reached(
    name: str,
    roles: Sequence[str],
    assignments: Sequence[authorization.RoleAssignment],
    minutes: int,
    opts: pulumi.ResourceOptions,
    kubeconfig: pulumi.Input[str] | None = None,
) -> list[pulumi.Resource]:
    """Return what to depend on where roles are needed; nothing if there are none, or if they are
    not waited for.

    Args:
        name: the Pulumi name.
        roles: role, grantee and scope of each assignment in words, for previews and errors.
        assignments: the assignments.
        minutes: how long to wait at most; 0 not to wait.
        opts: resource options.
        kubeconfig: the kubeconfig of a hub, which is asked until it lets its user taint members.
            None where nobody can be asked, as for the roles of an identity on a subnet: then the
            time is waited out.
    """
    if not assignments or not minutes:
        return []
    created = [assignment.created_on for assignment in assignments]
    props = {"roles": list(roles), "created": created, "minutes": minutes, "kubeconfig": kubeconfig}
    return [RolesReach(name, props, opts)]
