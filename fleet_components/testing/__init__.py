"""Tools for users to test their own programs: run them in process and check what they register.

Example::

    from fleet_components.testing import run_program

    def test_the_shop_stays_in_europe():
        run = run_program(my_program)
        decisions = run.inputs("production/shop", "dynamic/fleet:Placement")["decisions"]
        assert all(cluster.startswith("eu-") for cluster in decisions)
"""

from fleet_components.plan.state import StackState, StoredResource, redact, reveal
from fleet_components.testing.builders import config_map, kubeconfig, member, placement
from fleet_components.testing.mocks import CheckFailed, FleetMocks
from fleet_components.testing.monitor import RecordingMonitor, Refused, Registration
from fleet_components.testing.program import ProgramRun, run_program

__all__ = [
    "CheckFailed",
    "FleetMocks",
    "ProgramRun",
    "RecordingMonitor",
    "Refused",
    "Registration",
    "StackState",
    "StoredResource",
    "config_map",
    "kubeconfig",
    "member",
    "placement",
    "redact",
    "reveal",
    "run_program",
]
