"""Kubeconfigs of Azure that sign in without interaction."""

from __future__ import annotations

import base64
import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs
import pulumi
from pulumi_azure_native import authorization
from pulumi_azure_native import containerservice as aks

from fleet_components.azure.dynamic import RolesReach
from fleet_components.azure.values import checks
from fleet_components.azure.values.cost import Estimate, Monthly
from fleet_components.azure.values.vm_size import SizeTable
from fleet_components.components.past import read_stored
from fleet_components.components.process import unknown
from fleet_components.components.refusal import Arguments
from fleet_components.live.credentials import signing_in
from fleet_components.model.codec import camel
from fleet_components.model.message import Message
from fleet_components.model.problem import FieldPath, Problem
from fleet_components.model.typed import Later

# The modes of kubelogin that need no person, with the fields that each requires. Azure's
# kubeconfigs come with devicecode, which does.
_NEEDS = {
    "azurecli": (),
    "azd": (),
    "msi": (),
    "workloadidentity": (),
    "spn": ("client_id",),
    "azurepipelines": ("client_id", "service_connection"),
}
_FLAGS = {
    "--client-id": "client_id",
    "--tenant-id": "tenant",
    "--azure-pipelines-service-connection-id": "service_connection",
}


@attrs.frozen
class Login(Arguments):
    """Sign-in of ``kubelogin``. Secrets come from its environment variables, never from the
    kubeconfig.

    Attributes:
        mode: ``azurecli`` (the default), ``azd``, ``msi``, ``workloadidentity``, ``spn`` or
            ``azurepipelines``.
        client_id: the identity to sign in with; needed by ``spn`` and ``azurepipelines``.
        tenant: its tenant; None for the one that Azure writes into the kubeconfig.
        service_connection: the ID of the service connection, for ``azurepipelines``.
    """

    mode: str = "azurecli"
    client_id: str | None = None
    tenant: str | None = None
    service_connection: str | None = None

    def problems(self, path: FieldPath = ()) -> Iterator[Problem]:
        """Yield a problem for each value that ``kubelogin`` would reject, and for interactive
        modes.
        """
        yield from checks.choice_of(self.mode, _NEEDS, (*path, "mode"))
        for field in _NEEDS.get(self.mode, ()):
            if getattr(self, field) is None:
                yield Problem(
                    Message(
                        "mode-needs",
                        "mode {mode} needs {camel}",
                        mode=self.mode,
                        camel=camel(field),
                    ),
                    (*path, camel(field)),
                    "write it here",
                )


def with_login(kubeconfig: str, login: Login) -> str:
    """Return a kubeconfig in which every ``kubelogin`` user signs in as given.

    Users with certificates or tokens are not changed.
    """
    flags = {
        flag: value
        for flag, field in _FLAGS.items()
        if (value := getattr(login, field)) is not None
    }
    return signing_in(kubeconfig, login.mode, flags)


def own_kubeconfig(text: str | Later | None, file: str) -> pulumi.Output[str] | None:
    """Return a declared kubeconfig, given as text or as the path of a file, as a secret; None if
    none is declared.
    """
    if text is not None:
        given: Any = text
        return pulumi.Output.secret(given)
    return pulumi.Output.secret(Path(file).read_text(encoding="utf-8")) if file else None


def file_problems(file: str) -> Iterator[Problem]:
    """Yield a problem if the file of a declared kubeconfig is not there."""
    if file and not os.path.isfile(file):
        yield Problem(
            Message("no-file", 'there is no file "{file}"', file=file),
            ("kubeconfigFile",),
            "its path",
        )


def decoded(credentials: Any) -> str:
    """Return the kubeconfig in the response of one of Azure's credential functions."""
    return base64.b64decode(credentials.kubeconfigs[0].value).decode()


# An AKS cluster that a program created, with what Azure says of it.


# The key of the nodes' identity in Azure's identityProfile.
_KUBELET = "kubeletidentity"
_OUTPUTS = (
    *(
        "cluster_id",
        "oidc_issuer_url",
        "kubelet_client_id",
        "kubelet_object_id",
        "kubelet_identity_id",
    ),
    *("principal_id", "node_resource_group", "fqdn", "private_fqdn"),
)


@attrs.frozen(eq=False)
class CreatedCluster:
    """An AKS cluster that was created here. What is an output is known once the cluster exists.

    Attributes:
        resource: the cluster's resource, for all outputs of Azure that have no name here.
    """

    resource: aks.ManagedCluster

    @property
    def cluster_id(self) -> pulumi.Output[str]:
        """The resource ID of the cluster."""
        found: pulumi.Output[str] = self.resource.id
        return found

    @property
    def oidc_issuer_url(self) -> pulumi.Output[str | None]:
        """The URL of the OIDC issuer, for federated credentials of workloads; None if it is off."""
        profile: pulumi.Output[Any] = self.resource.oidc_issuer_profile
        return profile.apply(
            lambda its: sooner_or_later(_of(its, "issuer_url"), expected=bool(_of(its, "enabled")))
        )

    @property
    def kubelet_client_id(self) -> pulumi.Output[str | None]:
        """The client ID of the identity by which nodes pull images."""
        return self._kubelet("client_id")

    @property
    def kubelet_object_id(self) -> pulumi.Output[str | None]:
        """The object ID of the identity by which nodes pull images: the principal of a role such as
        AcrPull.
        """
        return self._kubelet("object_id")

    @property
    def kubelet_identity_id(self) -> pulumi.Output[str | None]:
        """The resource ID of the identity by which nodes pull images."""
        return self._kubelet("resource_id")

    @property
    def principal_id(self) -> pulumi.Output[str | None]:
        """The object ID of the control plane's identity, be it system-assigned or user-assigned."""
        found: pulumi.Output[str | None] = self.resource.identity.apply(principal_of)
        return found

    @property
    def node_resource_group(self) -> pulumi.Output[str | None]:
        """The name of the resource group of the machines, as Azure has it."""
        found: pulumi.Output[str | None] = self.resource.node_resource_group
        return found

    @property
    def fqdn(self) -> pulumi.Output[str | None]:
        """The public name of the API server; None if it has none."""
        found: pulumi.Output[str | None] = self.resource.fqdn
        return found

    @property
    def private_fqdn(self) -> pulumi.Output[str | None]:
        """The name of the API server in the virtual network; None unless it is private."""
        found: pulumi.Output[str | None] = self.resource.private_fqdn
        return found

    @property
    def outputs(self) -> dict[str, pulumi.Output[Any]]:
        """All outputs by their names in camelCase, as stacks export them; none of them is
        secret.
        """
        return {camel(name): getattr(self, name) for name in _OUTPUTS}

    def _kubelet(self, field: str) -> pulumi.Output[str | None]:
        profile: pulumi.Output[Any] = self.resource.identity_profile
        return profile.apply(lambda identities: _of((identities or {}).get(_KUBELET), field))


def principal_of(identity: Any) -> Any:
    """Return the principal ID of a resource's identity, be it system-assigned or its one
    user-assigned identity.
    """
    assigned = _of(identity, "user_assigned_identities") or {}
    found = _of(identity, "principal_id") or next(
        (_of(each, "principal_id") for each in assigned.values()), None
    )
    return sooner_or_later(found, expected=identity is not None)


def sooner_or_later(value: str | None, *, expected: bool) -> Any:
    """Return a value that Azure adds to what it was sent; an unknown output if it is expected and a
    preview lacks it.

    Otherwise a resource that is built on the value would get None, and refuse it.
    """
    if value is not None or not expected or not pulumi.runtime.is_dry_run():
        return value
    return unknown()


def _of(value: Any, field: str) -> Any:
    return None if value is None else getattr(value, field, None)


# The point in an update at which role assignments have reached.


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
    # Times of creation, because roles that are old enough have reached.
    created = [assignment.created_on for assignment in assignments]
    props = {"roles": list(roles), "created": created, "minutes": minutes, "kubeconfig": kubeconfig}
    return [RolesReach(name, props, opts)]


# Logs what a fleet, a member or a hub costs, and what it cost by the record of the last update.


COST = "cost"
"""Output of a component: its estimate."""


def tell_cost(
    component: pulumi.ComponentResource,
    names: Collection[str],
    what: str,
    cost: Estimate,
    table: SizeTable,
    parts: Sequence[str] = (),
) -> dict[str, Any]:
    """Log the estimate of a component beside that of the last update, and return the output that
    records it.

    Args:
        component: the component.
        names: its name, and former ones.
        what: the subject of the sentence.
        cost: the estimate.
        table: the prices that it was made with.
        parts: what it is made of, a line each; a single part is not logged.
    """
    month = cost.monthly(table)
    stored = read_stored((component.pulumi_resource_type,))
    recorded = (item.outputs.get(COST) for item in stored if item.name in names)
    # None for a new component, and for one whose last update recorded no estimate.
    before = next((Monthly.from_wire(data) for data in recorded if isinstance(data, Mapping)), None)
    lines = (f"{what}: {month.text(before)}", *(parts if len(parts) > 1 else ()))
    pulumi.log.info("\n  ".join(lines), resource=component)
    return {COST: month.to_wire()}
