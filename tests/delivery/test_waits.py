"""The wait for each object to become ready: it is an option of the resources, and no part of any object."""

from __future__ import annotations

from typing import Any

import pulumi
import pulumi_kubernetes as kubernetes

from fleet_components import Cluster, Fleet, FleetArgs, Member, source_of
from fleet_components.model.manifest import Manifest
from fleet_components.testing import ProgramRun, StackState, kubeconfig, placement, run_program

SPACE: dict[str, Any] = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}}
PATIENT: dict[str, Any] = {
    "apiVersion": "v1",
    "kind": "ConfigMap",
    "metadata": {
        "name": "slow",
        "namespace": "shop",
        "annotations": {"pulumi.com/timeoutSeconds": "30"},
    },
}
Timeouts = dict[str, tuple[Any, Any, Any] | None]


def delivered(
    seconds: int, state: StackState | None = None, *, preview: bool = False
) -> tuple[ProgramRun, Timeouts]:
    """Deliver to a member with a kubeconfig and to one that brings a provider; returns the timeouts by name."""
    found: Timeouts = {}

    def note(args: pulumi.ResourceTransformArgs) -> None:
        if args.type_.startswith("kubernetes:core"):
            given = args.opts.custom_timeouts
            found[args.name] = (given.create, given.update, given.delete) if given else None

    def program() -> None:
        pulumi.runtime.register_resource_transform(note)
        own = kubernetes.Provider(
            "own",
            kubeconfig=kubeconfig("b"),
            cluster_identifier="b",
            enable_config_map_mutable=True,
            enable_secret_mutable=True,
        )
        members = [Member(Cluster("a"), kubeconfig("a")), Member(Cluster("b"), provider=own)]
        args = FleetArgs(
            source_of([placement("shop"), Manifest(SPACE), Manifest(PATIENT)]),
            members=members,
            ready_timeout=seconds,
        )
        Fleet("dev", args)

    return run_program(program, state=state, preview=preview), found


def test_every_object_has_it_and_its_own_goes_before() -> None:
    run, found = delivered(20)
    assert run.error is None, run.error
    assert found == {
        **{f"dev/shop@{member}/shop": ("20s", "20s", "20s") for member in "ab"},
        **{f"dev/shop@{member}/shop/slow": None for member in "ab"},
    }
    told = [text for _, text in run.messages if "waiting" in text]
    assert told == 2 * [
        "waiting up to 20 s for each object to become ready (ConfigMap shop/slow 30 s)"
    ]


def test_another_one_changes_nothing() -> None:
    run, _ = delivered(20)
    before = run.state()
    again, found = delivered(3000, before, preview=True)
    assert {resource.urn: resource.inputs for resource in again.state().resources.values()} == {
        resource.urn: resource.inputs for resource in before.resources.values()
    }
    assert found["dev/shop@a/shop"] == ("3000s", "3000s", "3000s")
    assert not [text for _, text in again.messages if "waiting" in text]
