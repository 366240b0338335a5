"""Calls a program's transforms as the engine does: through the callbacks that the program serves."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from typing import Any

import grpc  # type: ignore[import-untyped]
from pulumi.runtime.proto import callback_pb2, callback_pb2_grpc, resource_pb2

# Objects can be larger than gRPC's default limit of 4 MB a message.
_NO_LIMIT = [("grpc.max_receive_message_length", -1), ("grpc.max_send_message_length", -1)]
_FIELDS = {
    "depends_on": "dependencies",
    "ignore_changes": "ignoreChanges",
    "replace_on_changes": "replaceOnChanges",
    "additional_secret_outputs": "additionalSecretOutputs",
    "aliases": "aliases",
    "providers": "providers",
    "hide_diff": "hideDiffs",
    "replace_with": "replace_with",
    "provider": "provider",
    "version": "version",
    "plugin_download_url": "pluginDownloadURL",
    "deleted_with": "deletedWith",
    "import": "importId",
    "protect": "protect",
    "retain_on_delete": "retainOnDelete",
    "delete_before_replace": "deleteBeforeReplace",
    "custom_timeouts": "customTimeouts",
    "plugin_checksums": "pluginChecksums",
    "replacement_trigger": "replacement_trigger",
    "hooks": "hooks",
}
"""Options that a transform may change: name in the transform's messages, name in a registration."""
_KNOWN = {
    option: field
    for option, field in _FIELDS.items()
    if option in resource_pb2.TransformResourceOptions.DESCRIPTOR.fields_by_name
    and field in resource_pb2.RegisterResourceRequest.DESCRIPTOR.fields_by_name
}
"""Those of the options that the installed SDK has."""


class Transforms:
    """Client of the callback servers of a program, with its open connections."""

    def __init__(self) -> None:
        self._channels: dict[str, grpc.Channel] = {}
        self._lock = threading.Lock()

    def apply(self, callbacks: Iterable[Any], request: Any) -> None:
        """Apply transforms to a registration, one after the other.

        Args:
            callbacks: address and token of each transform.
            request: the registration; changed in place.
        """
        for callback in callbacks:
            asked = resource_pb2.TransformRequest(
                type=request.type, name=request.name, custom=request.custom, parent=request.parent
            )
            asked.properties.CopyFrom(request.object)
            for option, field in _KNOWN.items():
                _copy(request, field, asked.options, option)
            if not request.deleteBeforeReplaceDefined:
                # A registration tells in a field of its own whether this one is set.
                asked.options.ClearField("delete_before_replace")
            answer = resource_pb2.TransformResponse.FromString(self._call(callback, asked.SerializeToString()))
            if answer.HasField("properties"):
                request.object.CopyFrom(answer.properties)
            if answer.HasField("options"):
                for option, field in _KNOWN.items():
                    _copy(answer.options, option, request, field)

    def close(self) -> None:
        """Close the connections."""
        for channel in self._channels.values():
            channel.close()

    def _call(self, callback: Any, request: bytes) -> bytes:
        with self._lock:
            if callback.target not in self._channels:
                self._channels[callback.target] = grpc.insecure_channel(callback.target, _NO_LIMIT)
        stub: Any = callback_pb2_grpc.CallbacksStub(self._channels[callback.target])
        answer = stub.Invoke(callback_pb2.CallbackInvokeRequest(token=callback.token, request=request))
        response: bytes = answer.response
        return response


def _copy(source: Any, field: str, target: Any, name: str) -> None:
    """Copy a field of any type from one message to another; if it is not set, it is cleared in the target."""
    target.ClearField(name)
    if source.DESCRIPTOR.fields_by_name[field].has_presence and not source.HasField(field):
        return
    value = getattr(source, field)
    if hasattr(value, "MergeFrom"):
        getattr(target, name).MergeFrom(value)
    else:
        setattr(target, name, value)
