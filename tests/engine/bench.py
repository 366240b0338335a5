"""Speed on the real engine: ``python -m tests.engine.bench`` holds a fleet against a program without one.

Both have the same objects, on the same API servers, through providers with the same settings. They take turns, since
whatever else the machine does then slows down both alike, and CPU time is counted beside the time that passes: that of
the command line, the program and all plugins.
"""

from __future__ import annotations

import os
import statistics
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping
from compileall import compile_dir
from pathlib import Path
from typing import Any

import attrs
import pytest
import yaml

import fleet_components
from tests.control_planes import Planes, control_planes
from tests.engine.driver import PROGRAM, Engine, engine_or_skip
from tests.engine.stories import config_map, deployment, member, namespace, placement

MEMBERS, OBJECTS, DEPLOYMENTS, ACCOUNTS, ROUNDS = "abcd", 60, 5, 10, 3
WITHOUT = PROGRAM.parents[1] / "tests" / "engine" / "programs" / "without_fleet.py"
PREVIEW, UP = ("preview",), ("up", "--yes", "--skip-preview")


@attrs.frozen
class Cost:
    """What a command took, in seconds: of the clock, and of all processors."""

    wall: float
    cpu: float


@attrs.define
class Objects:
    """The world of one stack: a namespace of its own on each API server, with all that is in it."""

    space: str
    planes: Planes
    config: dict[str, Any] = attrs.field(factory=dict)
    value: str = "one"
    members: Mapping[str, Any] = attrs.field(factory=dict)

    def write(self, folder: Path) -> None:
        """Write the policy and the objects."""
        folder.mkdir(exist_ok=True)
        own = namespace(self.space)
        policy = [*map(member, self.planes), placement("bench", own)]
        (folder / "fleet.yaml").write_text(yaml.safe_dump_all(policy))
        items = {"apiVersion": "v1", "kind": "List", "items": [own, *self._in_it()]}
        (folder / "objects.yaml").write_text(yaml.safe_dump(items))
        self.config["kubeconfigs"] = {
            name: str(plane.kubeconfig) for name, plane in self.planes.items()
        }

    def _in_it(self) -> Iterator[Mapping[str, Any]]:
        for number in range(OBJECTS - 1 - DEPLOYMENTS - ACCOUNTS):
            yield config_map(self.space, "one" if number else self.value, f"map-{number}")
        for number in range(ACCOUNTS):
            yield {
                "apiVersion": "v1",
                "kind": "ServiceAccount",
                "metadata": {"name": f"account-{number}", "namespace": self.space},
            }
        for number in range(DEPLOYMENTS):
            data = deployment(self.space)
            yield {**data, "metadata": {**data["metadata"], "name": f"web-{number}"}}


def cost(engine: Engine[Objects], *command: str) -> Cost:
    """Run a command of the command line, which has to succeed."""
    began, before = time.perf_counter(), os.times()
    status, text = engine.command(*command)
    after = os.times()
    assert status == 0, text
    cpu = (
        after.children_user + after.children_system - before.children_user - before.children_system
    )
    return Cost(time.perf_counter() - began, cpu)


def steps(engine: Engine[Objects], *, ordered: bool) -> Iterator[tuple[str, Cost]]:
    """Yield what each operation on a stack costs, from the first preview on."""
    yield "new: preview", cost(engine, *PREVIEW)
    yield "new: up", cost(engine, *UP)
    yield "unchanged: preview", cost(engine, *PREVIEW)
    yield "unchanged: up", cost(engine, *UP)
    engine.world.value = "two"
    if ordered:
        engine.world.config["bench:ordered"] = "true"
    yield "change: preview", cost(engine, *PREVIEW)
    yield "change: up", cost(engine, *UP)


def measured(folder: Path, planes: Planes, rounds: int) -> dict[str, dict[str, list[Cost]]]:
    """Return what each operation cost, by program, in turns."""
    found: dict[str, dict[str, list[Cost]]] = defaultdict(lambda: defaultdict(list))
    programs = {"plain": (WITHOUT, False), "ordered": (WITHOUT, True), "fleet": (PROGRAM, False)}
    for turn in range(rounds):
        running = {}
        for name, (program, ordered) in programs.items():
            world = Objects(f"bench-{name}-{turn}", planes)
            engine = Engine(folder / f"{name}-{turn}", program, world, standin=False)
            # An installed package is compiled; where Python is told not to write that down, each run would compile anew.
            engine.environment["PYTHONDONTWRITEBYTECODE"] = ""
            running[name] = steps(engine, ordered=ordered)
        order = list(running)[:: 1 if turn % 2 else -1]
        while running:
            for name in order:
                step = next(running[name], None)
                if step is None:
                    running.clear()
                    break
                found[step[0]][name].append(step[1])
                print(
                    f"{turn} {step[0]:20} {name:8} {step[1].wall:6.2f} {step[1].cpu:6.2f}",
                    flush=True,
                )
    return found


def main(rounds: int = ROUNDS) -> None:
    """Print a table of medians and ratios, or why nothing can be measured."""
    try:
        engine_or_skip()
        compile_dir(Path(fleet_components.__path__[0]), quiet=1)
        with tempfile.TemporaryDirectory() as folder, control_planes(MEMBERS) as planes:
            found = measured(Path(folder) / "stacks", planes, rounds)
    except pytest.skip.Exception as skipped:
        print(f"the engine is not measured: {skipped.msg}")
        return
    for what in ("wall", "cpu"):
        for step, costs in found.items():
            medians = {
                name: statistics.median(getattr(item, what) for item in each)
                for name, each in costs.items()
            }
            figures = " ".join(f"{name} {each:6.2f}" for name, each in medians.items())
            ratios = " ".join(
                f"{medians['fleet'] / medians[name]:5.2f} x {name}" for name in ("plain", "ordered")
            )
            print(f"{what:5} {step:20} {figures}   {ratios}")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
