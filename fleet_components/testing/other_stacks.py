"""Outputs of other stacks, which a program reads by stack references and by
``members_of_stack``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import attrs
from pulumi.runtime.rpc import UNKNOWN

from fleet_components.content.secret import REDACTED
from fleet_components.plan.state import SECRET_MARK, is_marked_secret, reveal

READ_OUTPUTS = "pulumi:pulumi:readStackOutputs"
REFERENCE = "pulumi:pulumi:StackReference"


@attrs.define
class OtherStacks:
    """Outputs of other stacks, as far as a run is told of them.

    Attributes:
        outputs: the outputs by name of the stack, in the form of a state or of the wire, with
            secrets marked.
        organization: the organization of the stack whose program runs.
        project: its project.
        read: full names of the stacks that the program has read.
    """

    outputs: Mapping[str, Mapping[str, Any]] = attrs.field(factory=dict)
    organization: str = "organization"
    project: str = "project"
    read: set[str] = attrs.field(factory=set)

    def of(self, stack: str) -> Mapping[str, Any] | None:
        """Return the outputs of a stack, in the form of the wire; None if nothing is known of it.

        A secret that is encrypted in the state reads ``[secret]``.
        """
        name = self.full_name(stack)
        self.read.add(name)
        found = next(
            (outputs for known, outputs in self.outputs.items() if self.full_name(known) == name),
            None,
        )
        return None if found is None else {key: _on_the_wire(value) for key, value in found.items()}

    def known_of(self, stack: str) -> Mapping[str, Any] | None:
        """Return the outputs of a stack that are known before its next update; None if nothing is
        known of it.
        """
        found = self.of(stack)
        return (
            None
            if found is None
            else {key: value for key, value in found.items() if UNKNOWN not in _leaves(value)}
        )

    def full_name(self, stack: str) -> str:
        """Return ``organization/project/stack``; what is left out is that of the stack whose
        program runs.
        """
        parts = stack.split("/")
        # With one part both are missing, with two only the organization, with three nothing.
        return "/".join([*(self.organization, self.project)[: 3 - len(parts)], *parts])


def referenced(stack: str, outputs: Mapping[str, Any]) -> dict[str, Any]:
    """Return the properties of a stack reference."""
    secret = sorted(key for key, value in outputs.items() if _has_secret(value))
    return {"name": stack, "outputs": dict(outputs), "secretOutputNames": secret}


def _on_the_wire(value: Any) -> Any:
    if is_marked_secret(value):
        # Only encrypted: there is no passphrase to read it with.
        encrypted = "ciphertext" in value and "plaintext" not in value
        return {**SECRET_MARK, "value": REDACTED if encrypted else reveal(value)}
    if isinstance(value, Mapping):
        return {key: _on_the_wire(item) for key, item in value.items()}
    return [_on_the_wire(item) for item in value] if isinstance(value, list) else value


def _has_secret(value: Any) -> bool:
    if isinstance(value, Mapping):
        return is_marked_secret(value) or any(map(_has_secret, value.values()))
    return isinstance(value, list) and any(map(_has_secret, value))


def _leaves(value: Any) -> Iterator[Any]:
    if isinstance(value, Mapping | list):
        for item in value.values() if isinstance(value, Mapping) else value:
            yield from _leaves(item)
    else:
        yield value
