"""Calls a program's transforms as the engine does: through the callbacks that the program
serves.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import grpc  # type: ignore[import-untyped]
from google.protobuf.json_format import MessageToDict, ParseDict
from pulumi import RunError
from pulumi.runtime.proto import callback_pb2, callback_pb2_grpc, resource_pb2
from pulumi.runtime.rpc import UNKNOWN

from fleet_components.plan.state import OUTPUT_MARK, SECRET_MARK, is_marked_output, is_marked_secret

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
_OF_CALLS = {
    "provider": "provider",
    "version": "version",
    "plugin_download_url": "pluginDownloadURL",
    "plugin_checksums": "pluginChecksums",
}
"""Options of a call that a transform may change: name in the transform's messages, name in a
call.
"""
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

        Raises:
            RunError: a transform has failed; names the resource.
        """
        callbacks = list(callbacks)
        if not callbacks:
            return
        own = bool(request.transforms)
        before = list(request.dependencies)
        _raise_outputs(
            request,
            {k: each.urns for k, each in request.propertyDependencies.items()} if own else {},
        )
        for callback in callbacks:
            self._transform(callback, request)
        named = _lower_outputs(request)
        # The engine takes changed dependencies only from the resource's own transforms.
        request.dependencies[:] = sorted({*request.dependencies, *named}) if own else before

    def apply_to_call(self, callbacks: Iterable[Any], request: Any) -> None:
        """Apply transforms of calls to a call of a provider's function, one after the other.

        Args:
            callbacks: address and token of each transform.
            request: the call; changed in place.

        Raises:
            RunError: a transform has failed; names the function.
        """
        for callback in callbacks:
            asked = resource_pb2.TransformInvokeRequest(token=request.tok)
            asked.args.CopyFrom(request.args)
            _hand_over(request, asked.options, _OF_CALLS)
            answer = resource_pb2.TransformInvokeResponse.FromString(
                self._call(callback, asked.SerializeToString(), f"call of {request.tok}")
            )
            if answer.HasField("args"):
                request.args.CopyFrom(answer.args)
            _take_back(answer, request, _OF_CALLS)

    def _transform(self, callback: Any, request: Any) -> None:
        asked = resource_pb2.TransformRequest(
            type=request.type, name=request.name, custom=request.custom, parent=request.parent
        )
        asked.properties.CopyFrom(request.object)
        _hand_over(request, asked.options, _KNOWN)
        if not request.deleteBeforeReplaceDefined:
            # A registration has a field of its own that says whether this one is set.
            asked.options.ClearField("delete_before_replace")
        answer = resource_pb2.TransformResponse.FromString(
            self._call(callback, asked.SerializeToString(), f'{request.type} "{request.name}"')
        )
        if answer.HasField("properties"):
            request.object.CopyFrom(answer.properties)
        _take_back(answer, request, _KNOWN)

    def close(self) -> None:
        """Close the connections."""
        for channel in self._channels.values():
            channel.close()

    def _call(self, callback: Any, request: bytes, subject: str) -> bytes:
        with self._lock:
            if callback.target not in self._channels:
                self._channels[callback.target] = grpc.insecure_channel(callback.target, _NO_LIMIT)
        stub: Any = callback_pb2_grpc.CallbacksStub(self._channels[callback.target])
        try:
            answer = stub.Invoke(
                callback_pb2.CallbackInvokeRequest(token=callback.token, request=request)
            )
        except grpc.RpcError as error:
            # The text begins with the token of the callback, which says nothing to a reader.
            why = str(error.details()).partition(" error: ")[2] or error.details()
            raise RunError(f"a transform of {subject} failed: {why.strip()}") from None
        response: bytes = answer.response
        return response


def _raise_outputs(request: Any, dependencies: Mapping[str, Iterable[str]]) -> None:
    ParseDict(with_outputs(MessageToDict(request.object), dependencies), _cleared(request.object))


def _lower_outputs(request: Any) -> list[str]:
    """Remove the marks of outputs from a registration; return the URNs that they named."""
    given = MessageToDict(request.object)
    ParseDict(without_outputs(given), _cleared(request.object))
    return list(depended_on(given))


def _cleared(struct: Any) -> Any:
    struct.Clear()
    return struct


def _hand_over(request: Any, options: Any, fields: Mapping[str, str]) -> None:
    """Copy the options of a request to those that a transform is asked with."""
    for option, field in fields.items():
        _copy(request, field, options, option)


def _take_back(answer: Any, request: Any, fields: Mapping[str, str]) -> None:
    """Copy the options of a transform's answer to the request, if it gives any."""
    if answer.HasField("options"):
        for option, field in fields.items():
            _copy(answer.options, option, request, field)


def _copy(source: Any, field: str, target: Any, name: str) -> None:
    """Copy a field of any type from one message to another; if it is not set, it is cleared in the
    target.
    """
    target.ClearField(name)
    # A repeated field has no presence; it is copied even if it is empty.
    if source.DESCRIPTOR.fields_by_name[field].has_presence and not source.HasField(field):
        return
    value = getattr(source, field)
    if hasattr(value, "MergeFrom"):
        getattr(target, name).MergeFrom(value)
    else:
        setattr(target, name, value)


# Outputs among the properties that a transform sees: secrets, unknown values, and what depends on
# other resources.
#
# Source: ``RegisterResource``, ``upgradeOutputValues`` and ``downgradeOutputValues`` of the
# engine (pulumi/pulumi ``pkg/resource/deploy/source_eval.go``).


def with_outputs(
    properties: Mapping[str, Any], dependencies: Mapping[str, Iterable[str]]
) -> dict[str, Any]:
    """Return properties in which secrets, unknown values and what depends on other resources are
    outputs.

    Args:
        properties: the properties in wire form.
        dependencies: the URNs that a property depends on, by property.
    """
    found = {key: _raised(value) for key, value in properties.items()}
    return {
        key: _depending(value, sorted(dependencies.get(key, ()))) for key, value in found.items()
    }


def without_outputs(value: Any) -> Any:
    """Return a value in wire form in which secrets and unknown values are marked as such, and
    nothing is an output.
    """
    if is_marked_output(value):
        plain = without_outputs(value["value"]) if "value" in value else UNKNOWN
        return (
            {**SECRET_MARK, "value": plain}
            if value.get("secret") and not is_marked_secret(plain)
            else plain
        )
    if isinstance(value, Mapping):
        return {key: without_outputs(item) for key, item in value.items()}
    return [without_outputs(item) for item in value] if isinstance(value, list) else value


def depended_on(value: Any) -> Iterator[str]:
    """Yield the URNs that the outputs in a value depend on."""
    if is_marked_output(value):
        yield from value.get("dependencies", ())
    if isinstance(value, Mapping | list):
        for item in value.values() if isinstance(value, Mapping) else value:
            yield from depended_on(item)


def _raised(value: Any) -> Any:
    if value == UNKNOWN:
        return dict(OUTPUT_MARK)
    if is_marked_secret(value):
        known = {} if value["value"] == UNKNOWN else {"value": _raised(value["value"])}
        return {**OUTPUT_MARK, **known, "secret": True}
    if isinstance(value, Mapping):
        return {key: _raised(item) for key, item in value.items()}
    return [_raised(item) for item in value] if isinstance(value, list) else value


def _depending(value: Any, urns: list[str]) -> Any:
    if not urns:
        return value
    output = value if is_marked_output(value) else {**OUTPUT_MARK, "value": value}
    return {**output, "dependencies": urns}
