"""Credentials of kubeconfigs that a plugin gives."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from base64 import b64encode
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from fleet_components.content.guarded import UnreadableError, read_json
from fleet_components.live.kubelogin import KUBELOGIN, is_kubelogin, sign_in_hint
from fleet_components.live.unsecret import secrets_of, unsecret
from fleet_components.model.problem import FleetError, Problem
from fleet_components.model.text import visible

if TYPE_CHECKING:
    from lightkube.config.models import User, UserExec


_BY_HAND = "kubectl with that kubeconfig runs it, too, and lets it ask: sign in there first"


class AbsentPlugin(FleetError):
    """A credential plugin that is not installed, or cannot be run."""


def credential(plugin: UserExec, deadline: float) -> User:
    """Run a credential plugin. lightkube does so without a timeout, and supports neither API v1 nor certificates.

    Args:
        plugin: the plugin, as the kubeconfig has it.
        deadline: on the monotonic clock.

    Raises:
        FleetError: the plugin is not there, fails, does not answer in time or gives no credential. Its secrets are not
            shown.
    """
    from lightkube.config.models import User

    status = _status(plugin, _answer(plugin, deadline))
    pair = [status.get("clientCertificateData"), status.get("clientKeyData")]
    # ExecCredential has certificates as PEM text, a kubeconfig has them in base64.
    certificate, key = (b64encode(text.encode()).decode() if text else None for text in pair)
    return User(token=status.get("token"), client_cert_data=certificate, client_key_data=key)


def _answer(plugin: UserExec, deadline: float) -> bytes:
    # A plugin that asks its user something would wait for ever: it is told that nobody is there, and has no input.
    asked = {"kind": "ExecCredential", "apiVersion": plugin.apiVersion, "spec": {"interactive": False}}
    given = {each.name: each.value for each in plugin.env or ()}
    try:
        process = subprocess.Popen(
            [plugin.command, *(plugin.args or ())],
            env={**os.environ, "KUBERNETES_EXEC_INFO": json.dumps(asked), **given},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            # Without a terminal it cannot ask there either; and what it has started ends with it.
            start_new_session=True,
        )
    except OSError as error:
        raise AbsentPlugin([_problem(plugin, f"cannot be run: {error.strerror}", _absent_hint(plugin))]) from None
    with process:
        try:
            out, err = process.communicate(timeout=max(0.0, deadline - time.monotonic()))
        except BaseException as error:
            _end(process)
            if not isinstance(error, subprocess.TimeoutExpired):
                raise
            raise _failed(plugin, "has not answered in time") from None
    if process.returncode:
        message = unsecret(err.decode(errors="replace"), {*given.values(), *secrets_of(plugin.args or ())})
        what = f"fails with exit status {process.returncode}" + (f": {message}" if message else "")
        raise _failed(plugin, what)
    return out


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a plugin and, where the system has sessions, what it has started."""
    if sys.platform == "win32":
        process.kill()
    else:
        os.killpg(process.pid, signal.SIGKILL)


def _status(plugin: UserExec, answer: bytes) -> dict[str, Any]:
    with suppress(UnreadableError):
        found = read_json(answer)
        status = found.get("status") if isinstance(found, dict) else None
        if isinstance(status, dict) and (status.get("token") or status.get("clientCertificateData")):
            return status
    raise FleetError(
        [_problem(plugin, "gives no credential: it prints no ExecCredential with a token or a certificate")]
    )


def _failed(plugin: UserExec, what: str) -> FleetError:
    return FleetError([_problem(plugin, what, sign_in_hint(plugin.args or ()) if _is_kubelogin(plugin) else _BY_HAND)])


def _problem(plugin: UserExec, what: str, hint: str = "") -> Problem:
    return Problem(f'the credential plugin "{visible(plugin.command)}" {what}', hint=hint)


def _absent_hint(plugin: UserExec) -> str:
    if _is_kubelogin(plugin):
        return f"put {KUBELOGIN} on PATH: `az aks install-cli` installs it"
    # What whoever made the kubeconfig says of it.
    return unsecret(plugin.installHint) if plugin.installHint else "install it, or put it on PATH"


def _is_kubelogin(plugin: UserExec) -> bool:
    return is_kubelogin(plugin.command)
