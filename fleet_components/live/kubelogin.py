"""Kubeconfigs of Azure whose users sign in with ``kubelogin``, the credential plugin for Microsoft Entra ID."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import PurePath
from typing import Any

import yaml

from fleet_components.content.guarded import read_yaml

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
    given = dict(pairwise(map(str, args)))
    mode = given.get("--login") or given.get("-l") or DEFAULT_MODE
    if mode in _INTERACTIVE:
        return f"it asks somebody to sign in: run `{KUBELOGIN} convert-kubeconfig -l azurecli` and `az login`"
    if mode == "azurecli":
        return "run `az login`, in the tenant of the cluster"
    return f"its login mode is {mode}: check the environment variables that it needs"


def _args(args: list[str], mode: str, more: Mapping[str, str]) -> list[str]:
    given = dict(pairwise(args))
    flags = {flag: given[flag] for flag in _KEPT if flag in given}
    flags |= {"--login": mode, **more}
    if mode == "spn" and "--tenant-id" in given:
        flags.setdefault("--tenant-id", given["--tenant-id"])
    return ["get-token", *(part for flag in flags.items() for part in flag)]
