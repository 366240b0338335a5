"""Kubeconfigs of Azure that sign in without interaction."""

from __future__ import annotations

import base64
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import attrs
import pulumi

from fleet_components.azure.values import checks
from fleet_components.components.refusal import Arguments
from fleet_components.live.kubelogin import signing_in
from fleet_components.model.codec import camel
from fleet_components.model.problem import FieldPath, Problem
from fleet_components.model.typed import Later

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
    """Sign-in of ``kubelogin``. Secrets come from its environment variables, never from the kubeconfig.

    Attributes:
        mode: ``azurecli`` (the default), ``azd``, ``msi``, ``workloadidentity``, ``spn`` or ``azurepipelines``.
        client_id: the identity to sign in with; needed by ``spn`` and ``azurepipelines``.
        tenant: its tenant; None for the one that Azure writes into the kubeconfig.
        service_connection: the ID of the service connection, for ``azurepipelines``.
    """

    mode: str = "azurecli"
    client_id: str | None = None
    tenant: str | None = None
    service_connection: str | None = None

    def problems(self, path: FieldPath = ()) -> Iterator[Problem]:
        """Yield a problem for each value that ``kubelogin`` would reject, and for interactive modes."""
        yield from checks.choice_of(self.mode, _NEEDS, (*path, "mode"))
        for field in _NEEDS.get(self.mode, ()):
            if getattr(self, field) is None:
                yield Problem(f"mode {self.mode} needs {camel(field)}", (*path, camel(field)), "write it here")


def with_login(kubeconfig: str, login: Login) -> str:
    """Return a kubeconfig in which every ``kubelogin`` user signs in as given.

    Users with certificates or tokens are not changed.
    """
    flags = {flag: value for flag, field in _FLAGS.items() if (value := getattr(login, field)) is not None}
    return signing_in(kubeconfig, login.mode, flags)


def own_kubeconfig(text: str | Later | None, file: str) -> pulumi.Output[str] | None:
    """Return a declared kubeconfig, given as text or as the path of a file, as a secret; None if none is declared."""
    if text is not None:
        given: Any = text
        return pulumi.Output.secret(given)
    return pulumi.Output.secret(Path(file).read_text(encoding="utf-8")) if file else None


def file_problems(file: str) -> Iterator[Problem]:
    """Yield a problem if the file of a declared kubeconfig is not there."""
    if file and not os.path.isfile(file):
        yield Problem(f'there is no file "{file}"', ("kubeconfigFile",), "its path")


def decoded(credentials: Any) -> str:
    """Return the kubeconfig in the response of one of Azure's credential functions."""
    return base64.b64decode(credentials.kubeconfigs[0].value).decode()
