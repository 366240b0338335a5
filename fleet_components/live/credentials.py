"""Credentials: those that a plug-in of a kubeconfig prints, and how words of programs and services
are shown without them.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from base64 import b64encode
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from itertools import pairwise
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

import yaml

from fleet_components.content.guarded import UnreadableError, read_json, read_yaml
from fleet_components.model.message import Message
from fleet_components.model.problem import FleetError, Problem
from fleet_components.model.text import visible

if TYPE_CHECKING:
    from lightkube.config.models import User, UserExec


HIDDEN = "[hidden]"
_LONGEST = 300
SHORTEST = 6
"""Length of the shortest secret that is looked for: a shorter one would take every other word
out.
"""
_NAMED = re.compile("secret|token|passw|key|credential|auth", re.IGNORECASE)
_PLACES = re.compile("(file|path|host|url|uri|dir)$", re.IGNORECASE)
_SIGN = "[A-Za-z0-9+_~=-]"
_OPAQUE = (
    re.compile(r"\beyJ[\w-]+(\.[\w-]*)*"),  # the beginning of every JSON web token
    re.compile(r"(?<=bearer )\S+", re.IGNORECASE),
    # Longer than a GUID, which names what went wrong and where. Names of objects have shorter
    # parts, and a digest that is called so is none.
    re.compile(
        rf"(?<!sha256:)(?<!{_SIGN})"
        rf"(?!(?:[a-z0-9]{{1,20}}-)+[a-z0-9]{{1,20}}(?!{_SIGN})){_SIGN}{{40,}}"
    ),
    re.compile(r"-----BEGIN.*", re.DOTALL),
)


def unsecret(text: str, known: Iterable[str] = (), longest: int = _LONGEST) -> str:
    """Return a text in one line, shortened, in which secrets are hidden.

    Hidden are the values that are known, those of environment variables with the name of a secret,
    and whatever looks like a token.

    Args:
        text: the text.
        known: values that are secret.
        longest: the length of the text that is returned.
    """
    named = (value for name, value in os.environ.items() if names_secret(name))
    text = without_opaque(without(text, {*known, *named}))
    shown = visible(" ".join(text.split()))
    return shown if len(shown) <= longest else f"{shown[:longest]}..."


def without_opaque(text: str) -> str:
    """Return a text in which is hidden whatever looks like a token or a private key."""
    for pattern in _OPAQUE:
        text = pattern.sub(HIDDEN, text)
    return text


def without(text: str, known: Iterable[str]) -> str:
    """Return a text in which values are hidden that are known to be secret, unless they are very
    short.
    """
    # The longest first, since one may be a part of another.
    for secret in sorted(known, key=len, reverse=True):
        if len(secret) >= SHORTEST:
            text = text.replace(secret, HIDDEN)
    return text


def without_in(value: Any, known: Collection[str]) -> Any:
    """Return a value of an API object in whose texts, also in keys, known secrets are hidden."""
    match value:
        case str():
            return without(value, known)
        case Mapping():
            return {
                without(str(key), known): without_in(item, known) for key, item in value.items()
            }
        case list():
            return [without_in(item, known) for item in value]
    return value


def names_secret(key: str) -> bool:
    """Return whether a variable, an option or a field has the name of a secret."""
    return bool(_NAMED.search(key)) and not _PLACES.search(key)


def secrets_of(arguments: Iterable[str]) -> set[str]:
    """Return those arguments of a command that are the values of options with the name of a
    secret.
    """
    listed = list(arguments)
    given = [text.split("=", 1) for text in listed if text.startswith("-") and "=" in text]
    given += [[option, value] for option, value in pairwise(listed) if option.startswith("-")]
    return {value for option, value in given if names_secret(option)}


# Credentials of kubeconfigs that a plugin gives.


_BY_HAND = "kubectl with that kubeconfig runs it, too, and lets it ask: sign in there first"


class AbsentPlugin(FleetError):
    """A credential plugin that is not installed, or cannot be run."""


def credential(plugin: UserExec, deadline: float) -> User:
    """Run a credential plugin. lightkube does so without a timeout, and supports neither API v1 nor
    certificates.

    Args:
        plugin: the plugin, as the kubeconfig has it.
        deadline: on the monotonic clock.

    Raises:
        FleetError: the plugin is not there, fails, does not answer in time or gives no credential.
            Its secrets are not shown.
    """
    from lightkube.config.models import User

    status = _status(plugin, _answer(plugin, deadline))
    pair = [status.get("clientCertificateData"), status.get("clientKeyData")]
    # ExecCredential has certificates as PEM text, a kubeconfig has them in base64.
    certificate, key = (b64encode(text.encode()).decode() if text else None for text in pair)
    return User(token=status.get("token"), client_cert_data=certificate, client_key_data=key)


def _answer(plugin: UserExec, deadline: float) -> bytes:
    # A plugin that asks its user something would wait for ever: ``interactive`` says that nobody is
    # there, and it has no input.
    asked = {
        "kind": "ExecCredential",
        "apiVersion": plugin.apiVersion,
        "spec": {"interactive": False},
    }
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
        raise AbsentPlugin(
            [_problem(plugin, f"cannot be run: {error.strerror}", _absent_hint(plugin))]
        ) from None
    with process:
        try:
            out, err = process.communicate(timeout=max(0.0, deadline - time.monotonic()))
        # Also on an interrupt: the plugin must not outlive the program.
        except BaseException as error:
            _end(process)
            if not isinstance(error, subprocess.TimeoutExpired):
                raise
            raise _failed(plugin, "has not answered in time") from None
    if process.returncode:
        message = unsecret(
            err.decode(errors="replace"), {*given.values(), *secrets_of(plugin.args or ())}
        )
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
        if isinstance(status, dict) and (
            status.get("token") or status.get("clientCertificateData")
        ):
            return status
    raise FleetError(
        [
            _problem(
                plugin,
                "gives no credential: it prints no ExecCredential with a token or a certificate",
            )
        ]
    )


def _failed(plugin: UserExec, what: str) -> FleetError:
    return FleetError(
        [
            _problem(
                plugin, what, sign_in_hint(plugin.args or ()) if _is_kubelogin(plugin) else _BY_HAND
            )
        ]
    )


def _problem(plugin: UserExec, what: str, hint: str = "") -> Problem:
    return Problem(
        Message(
            "credential-plugin",
            'the credential plugin "{command}" {what}',
            command=visible(plugin.command),
            what=what,
        ),
        hint=hint,
    )


def _absent_hint(plugin: UserExec) -> str:
    if _is_kubelogin(plugin):
        return f"put {KUBELOGIN} on PATH: `az aks install-cli` installs it"
    # The hint of the person who made the kubeconfig.
    return unsecret(plugin.installHint) if plugin.installHint else "install it, or put it on PATH"


def _is_kubelogin(plugin: UserExec) -> bool:
    return is_kubelogin(plugin.command)


# Kubeconfigs of Azure whose users sign in with ``kubelogin``, the credential plugin for Microsoft
# Entra ID.


KUBELOGIN = "kubelogin"
DEFAULT_MODE = "devicecode"
"""The mode of kubelogin where no argument names one; it waits for somebody to type a code."""
_INTERACTIVE = (DEFAULT_MODE, "interactive")
_KEPT = ("--environment", "--server-id")
_METHOD = "AAD_LOGIN_METHOD"
"""An environment variable that wins over ``--login``. Source: ``UpdateFromEnv`` of kubelogin."""


def is_kubelogin(command: str) -> bool:
    """Return whether the command of a credential plugin is kubelogin, by whatever path."""
    return PurePath(command).stem.lower() == KUBELOGIN


def signing_in(kubeconfig: str, mode: str, flags: Mapping[str, str], *, alone: bool = False) -> str:
    """Return a kubeconfig in which every ``kubelogin`` user signs in as given.

    Azure writes mode ``devicecode`` or none. Users with certificates or tokens are not changed.

    Args:
        kubeconfig: the text of a kubeconfig.
        mode: a login mode of kubelogin, such as ``azurecli``.
        flags: further arguments, by flag.
        alone: True if the environment is not to choose another mode.
    """
    config = read_yaml(kubeconfig)
    for user in config.get("users") or ():
        command = (user.get("user") or {}).get("exec")
        if command and command.get("command") == KUBELOGIN:
            command["args"] = _args(command.get("args") or [], mode, flags)
            if alone:
                others = [item for item in command.get("env") or () if item.get("name") != _METHOD]
                command["env"] = [*others, {"name": _METHOD, "value": mode}]
    return yaml.safe_dump(config, sort_keys=False)


def sign_in_hint(args: Sequence[Any]) -> str:
    """Return advice for a kubelogin that fails or does not answer, from its arguments."""
    # Flags and their values alternate, so every second pair is meaningless, and its key is no flag.
    given = dict(pairwise(map(str, args)))
    mode = given.get("--login") or given.get("-l") or DEFAULT_MODE
    if mode in _INTERACTIVE:
        return (
            f"it asks somebody to sign in: run `{KUBELOGIN} convert-kubeconfig -l azurecli` and `az"
            " login`"
        )
    if mode == "azurecli":
        return "run `az login`, in the tenant of the cluster"
    return f"its login mode is {mode}: check the environment variables that it needs"


def _args(args: list[str], mode: str, more: Mapping[str, str]) -> list[str]:
    given = dict(pairwise(args))
    flags = {flag: given[flag] for flag in _KEPT if flag in given}
    flags |= {"--login": mode, **more}
    # This mode requires a tenant, and Azure has written it into the kubeconfig.
    if mode == "spn" and "--tenant-id" in given:
        flags.setdefault("--tenant-id", given["--tenant-id"])
    return ["get-token", *(part for flag in flags.items() for part in flag)]
