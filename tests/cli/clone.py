"""Git repositories with a fleet, and the command ``fleet review`` run on them."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.cli.fleets import FLEET, PLACEMENT, SHOP, run, write


class Clone:
    """A git repository with a branch ``main``, and ``change`` that is checked out."""

    def __init__(
        self, top: Path, files: Mapping[str, str | bytes] = FLEET, within: str = "fleet"
    ) -> None:
        self.top, self.fleet = top, top / within
        top.mkdir(parents=True, exist_ok=True)
        self.git("init", "-q", "-b", "main")
        self.git("config", "user.name", "somebody")
        self.git("config", "user.email", "somebody@example.com")
        write(self.fleet, files)
        self.commit()
        self.git("checkout", "-q", "-b", "change")

    def git(self, *args: object, given: bytes = b"") -> str:
        command = ["git", "-C", str(self.top), *map(str, args)]
        return (
            subprocess.run(command, check=True, input=given, capture_output=True)
            .stdout.decode()
            .strip()
        )

    def commit(self) -> str:
        self.git("add", "-A")
        self.git("commit", "-q", "-m", "a step")
        return self.git("rev-parse", "HEAD")

    def tree(self, *entries: tuple[str, str, str]) -> str:
        """A commit of entries that git itself would not make, on ``main``."""
        listed = b"".join(
            f"{mode} {name}".encode() + b"\0" + bytes.fromhex(object)
            for mode, name, object in entries
        )
        tree = self.git("hash-object", "-t", "tree", "-w", "--stdin", "--literally", given=listed)
        return self.git("commit-tree", tree, "-p", "main", "-m", "by hand")

    def blob(self, text: str) -> str:
        return self.git("hash-object", "-w", "--stdin", given=text.encode())


def review(*args: object, status: int = 0, base: str = "main") -> dict[str, Any]:
    result = run("review", *args, "--base", base, "-o", "json")
    assert result.exit_code == status, result.output
    document: dict[str, Any] = json.loads(result.stdout)
    return document


def failing(*args: object, base: str = "main") -> str:
    result = run("review", *args, "--base", base)
    assert result.exit_code == 1, result.output
    return result.stderr


def another(name: str = "other") -> str:
    """A shop of another name, with its placement."""
    placement = PLACEMENT.replace("{name: shop}", f"{{name: {name}}}", 1).replace(
        "name: shop}", f"name: {name}}}"
    )
    return f"{placement}---\n{SHOP.replace('shop', name)}"


def asked(folder: Path) -> list[object]:
    return [folder, "--project"] if (folder / "Pulumi.yaml").exists() else [folder]
