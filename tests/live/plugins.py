"""Programs on PATH in the place of those that log in: ``kubelogin`` and ``az``."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import attrs
import pytest

_HEAD = """#!{python} -S
import json, os, sys, time
with open({log!r}, "a") as log:
    log.write(json.dumps({{"args": sys.argv[1:], "asked": os.environ.get("KUBERNETES_EXEC_INFO"),
                           "mode": os.environ.get("AAD_LOGIN_METHOD")}}) + "\\n")
"""


@attrs.frozen
class Program:
    """A program that writes down how it was called.

    Attributes:
        path: the program.
        log: one line of JSON for each call.
    """

    path: Path
    log: Path

    @property
    def calls(self) -> list[dict[str, Any]]:
        """The arguments and the environment of each call."""
        return (
            [json.loads(line) for line in self.log.read_text().splitlines()]
            if self.log.exists()
            else []
        )


def program(monkeypatch: pytest.MonkeyPatch, folder: Path, name: str, code: str) -> Program:
    """Put a program on PATH, before all others; ``code`` is Python."""
    folder.mkdir(exist_ok=True)
    found = Program(folder / name, folder / f"{name}.log")
    found.path.write_text(_HEAD.format(python=sys.executable, log=str(found.log)) + code)
    found.path.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")
    return found


def gives(token: str) -> str:
    """Return the code of a kubelogin that gives a token."""
    answer = {"kind": "ExecCredential", "apiVersion": "client.authentication.k8s.io/v1beta1"}
    return f"print(json.dumps({ {**answer, 'status': {'token': token}}!r}))"


def gives_to_azure(token: str) -> str:
    """Return the code of an az that gives a token for the resource API."""
    answer = {
        "accessToken": token,
        "expiresOn": "2040-01-01 00:00:00.000000",
        "expires_on": 2208988800,
    }
    return f"print(json.dumps({answer!r}))"
