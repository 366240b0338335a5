"""Runs helm and kustomize on local files, without a shell, and kept from the network, clusters and
tool settings.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path

import attrs

from fleet_components.content.tool_words import words

SECONDS = 120
"""Time limit of a tool in seconds."""
_PROBED = 5
"""Seconds after which a system that is asked for a namespace has none."""
_KEPT = ("PATH", "HOME", "SYSTEMROOT", "TMPDIR", "TEMP")
"""The only environment variables that a tool inherits. kustomize can write variables into
ConfigMaps.
"""
# A proxy at the discard port of the local host, so that no connection succeeds.
_NOWHERE = "http://127.0.0.1:9"
_CUT_OFF = {
    **dict.fromkeys(
        ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"),
        _NOWHERE,
    ),
    # An empty list allows no protocol, so git cannot fetch remote bases.
    "GIT_ALLOW_PROTOCOL": "",
    # Nobody could answer a question for a password.
    "GIT_TERMINAL_PROMPT": "0",
    # The result must not depend on a cluster that the user happens to have.
    "KUBECONFIG": os.devnull,
    "LANG": "C.UTF-8",
}
# These lead to an empty directory, so that no plugin and no setting of the user takes part.
_HOMES = (
    "HELM_CACHE_HOME",
    "HELM_CONFIG_HOME",
    "HELM_DATA_HOME",
    "HELM_PLUGINS",
    "XDG_CONFIG_HOME",
    "XDG_CACHE_HOME",
)


class ToolError(Exception):
    """A tool is missing, fails, or takes too long; the text says which.

    Attributes:
        missing: the tool is not on PATH.
    """

    def __init__(self, what: str, *, missing: bool = False) -> None:
        super().__init__(what)
        self.missing = missing


@attrs.frozen
class Printed:
    """Output of a tool.

    Attributes:
        text: its standard output.
        message: what is shown of its standard error, in one line; empty if there is nothing.
    """

    text: str
    message: str


def find_tool(what: str, *names: str) -> Path:
    """Return the first of the tools that is on PATH.

    Args:
        what: what the tool is needed for, for the error.
        names: the tools, the preferred one first.

    Raises:
        ToolError: none of them is on PATH.
    """
    found = next(filter(None, map(shutil.which, names)), None)
    if found is None:
        raise ToolError(f"is {what}, and {' or '.join(names)} is not on PATH", missing=True)
    return Path(found)


def run_tool(tool: Path, arguments: Sequence[str], given: str = "") -> Printed:
    """Run a tool until it ends and return its output.

    Args:
        tool: the program.
        arguments: its arguments.
        given: its standard input.

    Raises:
        ToolError: it cannot be started, fails, takes longer than :data:`SECONDS`, or its output is
            not UTF-8.
    """
    with tempfile.TemporaryDirectory(prefix="fleet-components-") as home:
        try:
            process = subprocess.Popen(
                [*_without_network(shutil.which("unshare")), str(tool), *arguments],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=_environment(home),
                # A process group of its own, so that a tool that hangs is killed with its children.
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            raise ToolError(f"{tool.name} cannot be started: {error}") from error
        with process:
            out, err = _finished(process, tool.name, given)
    # A message is shown whatever its bytes are; the output below has to be exact.
    message = words(err.decode(errors="replace"))
    if process.returncode:
        raise ToolError(
            f"{tool.name} ended with exit status {process.returncode}:"
            f" {message or 'it says nothing'}"
        )
    try:
        return Printed(out.decode(), message)
    except UnicodeDecodeError as error:
        raise ToolError(f"{tool.name} printed what is not UTF-8") from error


@cache
def _without_network(unshare: str | None) -> tuple[str, ...]:
    """Return the command that starts a tool in a network namespace of its own, in which there is
    nothing.

    Args:
        unshare: the program of util-linux that does it; None if it is not on PATH.

    Returns:
        The command; empty where there is none, as on macOS and Windows, or where the system does
        not let users have namespaces.
    """
    if unshare is None:
        return ()
    command = (unshare, "--user", "--map-root-user", "--net")
    try:
        works = subprocess.run(
            [*command, unshare, "--version"], capture_output=True, timeout=_PROBED, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return ()
    # Tried once: some systems have the program and do not let users have namespaces.
    return command if works.returncode == 0 else ()


def as_argument(path: Path) -> str:
    """Return a path in a form that no tool mistakes for an option."""
    return str(path) if path.is_absolute() else os.path.join(os.curdir, path)


def _environment(home: str) -> Mapping[str, str]:
    kept = {name: os.environ[name] for name in _KEPT if name in os.environ}
    return {**kept, **_CUT_OFF, **dict.fromkeys(_HOMES, home)}


def _finished(process: subprocess.Popen[bytes], name: str, given: str) -> tuple[bytes, bytes]:
    try:
        return process.communicate(given.encode(), timeout=SECONDS)
    except BaseException as error:
        # Also on Ctrl-C, which does not reach the tool in its own process group.
        end(process)
        if isinstance(error, subprocess.TimeoutExpired):
            raise ToolError(f"{name} took longer than {SECONDS} s") from None
        raise


def end(process: subprocess.Popen[bytes]) -> None:
    """Kill a tool that runs in a session of its own, with all processes that it has started."""
    with suppress(ProcessLookupError):
        if os.name == "posix":
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
