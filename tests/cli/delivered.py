"""A fleet on disk that is delivered to stand-ins for API servers, for commands that ask its members."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import ExitStack
from functools import cached_property
from pathlib import Path
from typing import Any

import attrs
import pytest
import yaml

from fleet_components.content.stamp import field_manager
from fleet_components.plan.state import StackState
from tests.cli.fleets import run
from tests.delivery.driver import InProcess
from tests.live.api_server import CANARY, Api, api_server, path_of


@attrs.define
class Written:
    """A source that is on disk already.

    Attributes:
        folder: where it is.
        members: the members by name.
        config: the ``fleet:`` configuration.
    """

    folder: Path
    members: Mapping[str, Any]
    config: dict[str, Any]

    def write(self, folder: Path) -> None:
        """Copy it."""
        shutil.copytree(self.folder, folder, dirs_exist_ok=True)


@attrs.define(slots=False)
class Fleet:
    """A fleet whose objects are on its members.

    Attributes:
        driver: its updates.
        members: the API servers, by member.
        folder: the source.
        state: the file of its state.
    """

    driver: InProcess[Any]
    members: dict[str, Api]
    folder: Path
    state: Path

    def run(self, command: str, *args: object, width: int | None = None) -> Any:
        """Run a command on it; nothing secret is printed."""
        result = run(command, self.folder, "--state", self.state, "--any-state", *args, width=width)
        for secret in (CANARY, "hunter2", "aHVudGVyMg"):
            assert secret not in result.output
        return result

    def at(self, member: str, path: str) -> dict[str, Any]:
        """An object as a member has it."""
        return self.members[member].objects[path]

    def at_source(self, kind: str) -> dict[str, Any]:
        """The object of a kind as the source has it."""
        (found,) = (
            item
            for item in yaml.safe_load_all((self.folder / "fleet.yaml").read_text())
            if item["kind"] == kind
        )
        return dict(found)

    def asking(self) -> list[str]:
        """The options that say how members are reached."""
        for name, member in self.members.items():
            (self.folder.parent / f"{name}.kubeconfig").write_text(member.kubeconfig())
        return [
            text
            for name in self.members
            for text in ("--kubeconfig", f"{name}={self.folder.parent / name}.kubeconfig")
        ]

    def methods(self, member: str) -> set[str]:
        """The methods by which a member was asked, but for trials."""
        return {method for method, path in self.members[member].asked if "dryRun=All" not in path}

    @cached_property
    def resources(self) -> list[dict[str, Any]]:
        """Those of the state, to be changed, and then kept."""
        found: list[dict[str, Any]] = json.loads(self.state.read_text())["deployment"]["resources"]
        return found

    def keep(self) -> None:
        """Write the state as it was changed."""
        self.state.write_text(
            json.dumps({"version": 3, "deployment": {"resources": self.resources}})
        )

    def refresh(self) -> None:
        """Let the state have what the members have, as ``pulumi refresh`` does."""
        for resource in self.resources[:]:
            if resource["type"].startswith("kubernetes:"):
                live = self.members[member_of(resource)].objects.get(path_of(resource["inputs"]))
                if live is None:
                    self.resources.remove(resource)
                else:
                    resource["inputs"] = resource["outputs"] = json.loads(json.dumps(live))
        self.keep()

    def take_source(self) -> None:
        """Update from the files as they are now, which a command may have changed."""
        self.driver.world = Written(
            self.folder, self.driver.world.members, self.driver.world.config
        )
        self.update()

    def update(self, fails: Collection[str] = ()) -> None:
        """Update; what comes to some members fails."""
        done = self.driver.up(fails)
        assert done.ok is not bool(fails), done.text
        self.deliver(self.driver.state)

    def deliver(self, state: StackState) -> None:
        """Keep a state, and have its objects on the members."""
        self.resources = [
            {
                "urn": resource.urn,
                "type": resource.type,
                "custom": True,
                "parent": resource.parent,
                "provider": resource.provider,
            }
            | {"inputs": dict(resource.inputs), "outputs": dict(resource.outputs)}
            for resource in state.resources.values()
        ]
        self.keep()
        for resource in self.resources:
            if resource["type"].startswith("kubernetes:"):
                data = json.loads(json.dumps(resource["inputs"]))
                self.members[member_of(resource)].apply(data, field_manager(data))


def member_of(resource: Mapping[str, Any]) -> str:
    """The member of an object."""
    return str(resource["urn"]).rpartition("@")[2].partition("/")[0]


Delivered = Callable[[Any], Fleet]
"""Delivers what is written."""


@pytest.fixture
def delivered(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Delivered]:
    """Delivers a world to members of the names ``a`` and ``b``."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with ExitStack() as servers:
        members = {name: servers.enter_context(api_server()) for name in "ab"}

        def deliver(world: Any) -> Fleet:
            world.config["kubeconfigs"] = {
                name: member.kubeconfig() for name, member in members.items()
            }
            world.write(tmp_path / "fleet")
            fleet = Fleet(InProcess(world), members, tmp_path / "fleet", tmp_path / "state.json")
            fleet.update()
            return fleet

        yield deliver
