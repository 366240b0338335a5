"""Azure comes to a fleet as a guest: installed beside the planner, and loaded where a source declares something."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import entry_points
from typing import Any

from fleet_components.azure import guest as azure
from fleet_components.model.manifest import Manifest
from fleet_components.model.reader import API_VERSION, DECLARATIONS, ENTRY_POINTS, guests, present

GUEST: Any = azure


def declaration(kind: str) -> Manifest:
    return Manifest({"apiVersion": API_VERSION, "kind": kind, "metadata": {"name": "shop"}})


def test_it_is_registered() -> None:
    assert [point.value for point in entry_points(group=ENTRY_POINTS)] == [
        "fleet_components.azure.guest"
    ]
    assert guests() == (GUEST,)


def test_it_is_present_where_one_of_its_kinds_is() -> None:
    assert present(declaration(kind) for kind in GUEST.KINDS) == (GUEST,)
    assert present(declaration(kind) for kind in DECLARATIONS) == ()
    assert (
        present([Manifest({"apiVersion": "v1", "kind": "Members", "metadata": {"name": "x"}})])
        == ()
    )


def test_nothing_of_it_is_loaded_for_a_fleet_without_it() -> None:
    program = (
        "import sys\n"
        "from fleet_components import Fleet, FleetArgs, Member, Cluster, plan_fleet, read_source\n"
        "from fleet_components.testing import run_program, member, placement\n"
        "from fleet_components import source_of\n"
        "run = run_program(lambda: Fleet('dev', FleetArgs(source_of([placement('shop')]), members=[member('a')])))\n"
        "assert run.error is None, run.error\n"
        "loaded = sorted(name for name in sys.modules if name.startswith('fleet_components.azure.'))\n"
        "print(*(name for name in loaded if name not in ('fleet_components.azure.dynamic',)))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "", done.stdout
