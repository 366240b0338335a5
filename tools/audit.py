"""Looks for known holes in the pinned versions: ``python -m tools.audit``.

A database that answers decides: a hole in it is a failure. Where none can be reached, one line says
so, and that is no
failure: many machines reach an index of packages and nothing else.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

CONSTRAINTS = Path(__file__).parents[1] / "constraints.txt"
DATABASES: Mapping[str, Sequence[str]] = {
    "PyPI": ["--vulnerability-service=pypi"],
    "OSV": ["--vulnerability-service=osv"],
}
"""The databases, in the order in which they are asked, with the options of pip-audit that name
them.
"""
_AUDIT = [
    "pip_audit",
    "--no-deps",
    "--disable-pip",
    "--format=json",
    "--progress-spinner=off",
    "--timeout=10",
]
_UNREACHED = re.compile(
    r"\brequests\.exceptions\.|\bConnectionError\b|\bServiceError\b|Could not connect|timed out"
)


def audit(
    constraints: Path, databases: Mapping[str, Sequence[str]] = DATABASES
) -> tuple[int, list[str]]:
    """Return an exit status and what is to be said.

    Args:
        constraints: the file with the pins.
        databases: options of pip-audit, by the name of a database.

    Raises:
        RuntimeError: pip-audit has failed for another reason than that it cannot reach a database.
    """
    for name, options in databases.items():
        pins = _report(constraints, options)
        holes = [
            f"{constraints.name}: {pin['name']} {pin['version']}: {_hole(hole)}"
            for pin in pins
            for hole in pin["vulns"]
        ]
        if pins:
            return int(bool(holes)), holes or [
                f"{constraints.name}: no known hole in {len(pins)} pins, says {name}"
            ]
    return 0, [
        f"{constraints.name}: not audited, because no database can be reached:"
        f" {', '.join(databases)}"
    ]


def _report(constraints: Path, options: Sequence[str]) -> list[dict[str, Any]]:
    """Return the pins that a database knows; none if it cannot be reached."""
    command = [sys.executable, "-m", *_AUDIT, *options, "--requirement", str(constraints)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.stdout:
        # An index of packages that has no database answers as if it knew none of the packages.
        return [load for load in json.loads(done.stdout)["dependencies"] if "vulns" in load]
    if not _UNREACHED.search(done.stderr):
        raise RuntimeError(f"pip-audit has failed:\n{done.stderr}")
    return []


def _hole(hole: Mapping[str, Any]) -> str:
    versions = ", ".join(hole["fix_versions"])
    return f"{hole['id']}, " + (f"mended in {versions}" if versions else "not mended yet")


if __name__ == "__main__":
    status, lines = audit(CONSTRAINTS)
    sys.stdout.write("\n".join((*lines, "")))
    sys.exit(status)
