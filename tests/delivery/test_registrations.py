"""What an update has sent is known by the kind and the name of an object."""

from __future__ import annotations

import asyncio
from typing import Any

import pulumi
import pytest
from google.protobuf.json_format import ParseDict
from google.protobuf.struct_pb2 import Struct
from pulumi.runtime.proto import resource_pb2

from fleet_components.components.registrations import Registrations
from fleet_components.plan.names import type_token

NAME = "dev/shop@a/shop/web"
KINDS = {"Service": "v1", "Deployment": "apps/v1"}


def form(kind: str, value: str) -> dict[str, Any]:
    metadata = {"name": "web", "namespace": "shop"}
    return {"apiVersion": KINDS[kind], "kind": kind, "metadata": metadata, "spec": {"k": value}}


class Answering:
    """An engine that leaves out the objects of some kinds: it answers with their old form."""

    def __init__(self, *left_out: str) -> None:
        self.left_out = left_out

    def RegisterResource(self, request: Any) -> Any:  # noqa: N802 - the name of the SDK's method
        kind = request.type.rpartition(":")[2]
        inputs = form(kind, "old" if kind in self.left_out else "new")
        outputs = ParseDict({"__inputs": inputs}, Struct())
        return resource_pb2.RegisterResourceResponse(urn=request.type, object=outputs)


@pytest.mark.parametrize("left_out", [(), ("Service",), ("Deployment",), tuple(KINDS)])
def test_objects_of_one_name_are_told_apart(left_out: tuple[str, ...]) -> None:
    registrations = Registrations(Answering(*left_out))
    for kind in KINDS:
        token = type_token(form(kind, "new"))
        registrations.watch(NAME, form(kind, "new"))
        registrations.RegisterResource(resource_pb2.RegisterResourceRequest(type=token, name=NAME))
    for kind in KINDS:
        old, new = form(kind, "old"), form(kind, "new")
        assert registrations.is_sent(NAME, [old], new) == (kind not in left_out)


@pytest.mark.parametrize("way", ["option", "transform"])
@pytest.mark.parametrize(
    ("field", "sent"), [("spec.k", True), ("spec", True), ("metadata.labels", False)]
)
def test_what_the_engine_ignores_is_not_left_out(way: str, field: str, sent: bool) -> None:
    """A change of ignored fields alone is nothing that is left to be sent."""
    registrations = Registrations(Answering("Deployment"))
    old, new = form("Deployment", "old"), form("Deployment", "new")
    token, ignored = type_token(new), [field]
    if way == "transform":

        def leave(args: pulumi.ResourceTransformArgs) -> pulumi.ResourceTransformResult:
            return pulumi.ResourceTransformResult(
                args.props, pulumi.ResourceOptions(ignore_changes=[field])
            )

        args = pulumi.ResourceTransformArgs(True, token, NAME, new, pulumi.ResourceOptions())
        asyncio.run(registrations.observed(leave)(args))  # type: ignore[arg-type]
        ignored = []
    registrations.watch(NAME, new)
    request = resource_pb2.RegisterResourceRequest(type=token, name=NAME, ignoreChanges=ignored)
    registrations.RegisterResource(request)
    assert registrations.is_sent(NAME, [old], new) is sent
