"""What an update has sent is known by the kind and the name of an object."""

from __future__ import annotations

from typing import Any

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
        assert registrations.is_sent(NAME, [old], new, ()) == (kind not in left_out)
