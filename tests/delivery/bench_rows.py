"""The in-process plan of a fleet against a plain program that registers as many resources, with the same inputs."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Mapping
from typing import cast

import pulumi

from fleet_components import Fleet, FleetArgs, Source, source_of
from fleet_components.content.load import load_text
from fleet_components.testing import ProgramRun, Registration, reveal, run_program
from tests.delivery.world import KubeFleetWorld

OBJECTS = 10
MEMBERS = (10, 50)
Run = Callable[[], object]


def delivering(members: int) -> Run:
    """A fleet with one placement of ten objects on every member."""
    source = _source(members)
    return lambda: _fleet(source)


def registering(members: int) -> Run:
    """The same resources, registered one by one with what is already decided."""
    registrations = _fleet(_source(members)).registrations
    return lambda: _finished(run_program(lambda: _register(registrations)))


def state_kilobytes(members: int) -> int:
    """The size of the state after the update, as JSON."""
    resources = _fleet(_source(members)).state().resources.values()
    return (
        len(json.dumps([[r.urn, r.inputs, r.outputs, r.dependencies] for r in resources])) // 1000
    )


def _source(members: int) -> Source:
    maps = [
        {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"name": f"m{n}", "namespace": "shop"},
            "data": {"a": "b"},
        }
        for n in range(OBJECTS - 2)
    ]
    world = KubeFleetWorld(members={f"m{n:03}": {} for n in range(members)}, extra=maps)
    return source_of(load_text("\n---\n".join(json.dumps(data) for data in world.documents())))


def _fleet(source: Source) -> ProgramRun:
    with tempfile.TemporaryDirectory() as folder:
        return _finished(run_program(lambda: Fleet("bench", FleetArgs(source, render_to=folder))))


def _finished(run: ProgramRun) -> ProgramRun:
    if run.error:
        raise run.error
    return run


def _register(registrations: tuple[Registration, ...]) -> None:
    made: dict[str, pulumi.Resource] = {}
    for registration in registrations:  # what others need was registered before them
        made[registration.urn] = _resource(registration, made)


def _resource(registration: Registration, made: Mapping[str, pulumi.Resource]) -> pulumi.Resource:
    options = pulumi.ResourceOptions(
        parent=made.get(registration.parent),
        depends_on=[made[urn] for urn in registration.dependencies],
        provider=cast(
            "pulumi.ProviderResource | None", made.get(registration.provider.rpartition("::")[0])
        ),
    )
    name, inputs = registration.name, reveal(registration.inputs)
    if registration.type.startswith("pulumi:providers:"):
        return pulumi.ProviderResource("kubernetes", name, inputs, options)
    if not registration.custom:
        return pulumi.ComponentResource(registration.type, name, {}, options)
    token = registration.type if registration.provider else "bench:index:Record"
    return pulumi.CustomResource(token, name, inputs, options)


ROWS = {"deliver": delivering, "deliver-plain": registering}
