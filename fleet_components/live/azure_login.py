"""One login to Azure: for the resource API by azure-identity, for the hub by kubelogin, in the same
mode.
"""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import attrs

from fleet_components.live.connection import within
from fleet_components.live.credentials import unsecret
from fleet_components.model.message import Message
from fleet_components.model.problem import FleetError, Problem

MODES = ("azurecli", "azd", "msi", "spn", "workloadidentity")
"""Login modes, as kubelogin calls them. None of them asks somebody anything."""
_HINTS = {
    "azurecli": "run `az login`, in the tenant of the fleet",
    "azd": "run `azd auth login`",
    "msi": "run on a machine with a managed identity; AZURE_CLIENT_ID names one of several",
    "spn": (
        "set AZURE_TENANT_ID, AZURE_CLIENT_ID, and AZURE_CLIENT_SECRET or"
        " AZURE_CLIENT_CERTIFICATE_PATH"
    ),
    "workloadidentity": "set AZURE_TENANT_ID, AZURE_CLIENT_ID and AZURE_FEDERATED_TOKEN_FILE",
}
_MISSING = Message(
    "azure-identity-not-installed", "azure-identity is not installed, which logs in to Azure"
)
# The public cloud is the first, and the default of ``resource_api``.
_CLOUDS = {
    "login.microsoftonline.com": "https://management.azure.com",
    "login.microsoftonline.us": "https://management.usgovcloudapi.net",
    "login.partner.microsoftonline.cn": "https://management.chinacloudapi.cn",
    "login.chinacloudapi.cn": "https://management.chinacloudapi.cn",
}
"""Resource APIs, by the authority that ``AZURE_AUTHORITY_HOST`` names, which azure-identity logs in
to.
"""


def mode_of(environment: Mapping[str, str]) -> str:
    """Return the login mode that the environment variables of Azure's SDKs amount to; ``azurecli``
    without any.
    """
    if all(environment.get(name) for name in ("AZURE_CLIENT_ID", "AZURE_TENANT_ID")):
        if environment.get("AZURE_FEDERATED_TOKEN_FILE"):
            return "workloadidentity"
        if environment.get("AZURE_CLIENT_SECRET") or environment.get(
            "AZURE_CLIENT_CERTIFICATE_PATH"
        ):
            return "spn"
    return "azurecli"


def resource_api(environment: Mapping[str, str]) -> str:
    """Return the address of the resource API of the cloud in which a login is made.

    Raises:
        FleetError: ``AZURE_AUTHORITY_HOST`` names no cloud that is known.
    """
    host = environment.get("AZURE_AUTHORITY_HOST", "").removeprefix("https://").rstrip("/") or next(
        iter(_CLOUDS)
    )
    if host.lower() not in _CLOUDS:
        hint = f"set it to one of {', '.join(_CLOUDS)}, or not at all"
        raise FleetError(
            [
                Problem(
                    Message(
                        "azure-authority-host-names", "AZURE_AUTHORITY_HOST names no cloud of Azure"
                    ),
                    hint=hint,
                )
            ]
        )
    return _CLOUDS[host.lower()]


@attrs.frozen
class _Outcome:
    token: str = attrs.field(default="", repr=False)
    error: str = "the login does not end in time"


def access_token(mode: str, subscription: str, address: str, deadline: float) -> str:
    """Return a token for the resource API.

    Args:
        mode: one of :data:`MODES`.
        subscription: GUID of the subscription; ``azurecli`` logs in to its tenant.
        address: the address of the resource API.
        deadline: on the monotonic clock.

    Raises:
        FleetError: nobody is logged in, or azure-identity is not installed.
    """
    # Its warnings repeat what the error says, on the terminal.
    logging.getLogger("azure").addHandler(logging.NullHandler())
    logging.getLogger("msal").addHandler(logging.NullHandler())
    try:
        make = _credential(mode, subscription, deadline)
    except ImportError:
        hint = "pip install 'fleet-components[observe-azure]'"
        raise FleetError([Problem(_MISSING, hint=hint)]) from None
    outcome = _logged_in(deadline, lambda: str(make().get_token(f"{address}/.default").token))
    if not outcome.token:
        what = Message(
            "no-login-azure", "no login to Azure ({mode}): {error}", mode=mode, error=outcome.error
        )
        raise FleetError([Problem(what, hint=_HINTS[mode])])
    return outcome.token


def _credential(mode: str, subscription: str, deadline: float) -> Callable[[], Any]:
    from azure.identity import (
        AzureCliCredential,
        AzureDeveloperCliCredential,
        EnvironmentCredential,
        ManagedIdentityCredential,
        WorkloadIdentityCredential,
    )

    # azure-identity takes whole seconds.
    left = max(1, int(deadline - time.monotonic()))
    classes: dict[str, Callable[[], Any]] = {
        "azurecli": partial(AzureCliCredential, subscription=subscription, process_timeout=left),
        "azd": partial(AzureDeveloperCliCredential, process_timeout=left),
        "msi": partial(ManagedIdentityCredential, client_id=os.environ.get("AZURE_CLIENT_ID")),
        "spn": EnvironmentCredential,
        "workloadidentity": WorkloadIdentityCredential,
    }
    return classes[mode]


def _logged_in(deadline: float, ask: Callable[[], str]) -> _Outcome:
    """Return a token, or why there is none. A login over the network may have long timeouts."""
    from azure.core.exceptions import AzureError

    # The first outcome counts if the thread is abandoned.
    outcomes = [_Outcome()]

    def login(_: float) -> None:
        outcome = _Outcome(error="azure-identity fails, and does not say why")
        try:
            outcome = _Outcome(ask(), "")
        except (
            AzureError,
            ValueError,
        ) as error:  # a ValueError, if an environment variable is missing
            outcome = _Outcome("", unsecret(str(error)))
        finally:
            outcomes.append(outcome)

    within(max(0.0, deadline - time.monotonic()), login)
    return outcomes[-1]
