"""Exchange of members between stacks: one provisions them, others place workloads on them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import attrs
import pulumi

from fleet_components.components.member import Member
from fleet_components.components.process import in_process
from fleet_components.components.refusal import RefusedError, of_the_program
from fleet_components.model.cluster import Cluster
from fleet_components.model.codec import MisfitError, decode, encode
from fleet_components.model.message import Message
from fleet_components.model.problem import FleetError, Problem

_MEMBERS, _KUBECONFIGS = "members", "kubeconfigs"


def member_exports(members: Iterable[Member]) -> dict[str, Any]:
    """Return the stack outputs that :func:`members_of_stack` reads: plain records, and kubeconfigs
    as secrets, by name.

    Raises:
        RefusedError: a member brings a provider, which cannot be exported.
    """
    members = tuple(members)
    own = [member.name for member in members if member.provider is not None]
    if own:
        what, hint = (
            Message("provider-no-other-stack", "has a provider, which no other stack can use"),
            "give it a kubeconfig",
        )
        raise RefusedError(Problem(what, subject=f"member {name}", hint=hint) for name in own)
    return {
        _MEMBERS: {
            m.name: {"cluster": encode(m.cluster), "identifier": m.identifier} for m in members
        },
        _KUBECONFIGS: {
            m.name: pulumi.Output.secret(m.kubeconfig) for m in members if m.kubeconfig is not None
        },
    }


def members_of_stack(stack: str) -> tuple[Member, ...]:
    """Return the members that another stack exports. They are known in a preview; only kubeconfigs
    are outputs.

    Args:
        stack: full name of the stack, as ``organization/project/stack``.

    Raises:
        RefusedError: the stack does not exist, or exports no members.
    """
    try:
        return _members_of(stack)
    except FleetError as error:
        raise RefusedError(of_the_program(error.problems)) from None


def _members_of(stack: str) -> tuple[Member, ...]:
    # A StackReference would give outputs; the plan needs plain values.
    answer = _mapping(
        pulumi.runtime.invoke("pulumi:pulumi:readStackOutputs", {"name": stack}).value
    )
    found = _mapping(answer.get("outputs")).get(_MEMBERS)
    if not isinstance(found, Mapping):
        hint = (
            f"export member_exports(...) there, or the exports of its AzureFleet: {_MEMBERS} and"
            f" {_KUBECONFIGS}"
        )
        if in_process():
            hint += (
                f"; if its program does by now: --project-of {stack}=DIR plans that too, or export"
                " it after an update"
            )
        raise RefusedError(
            [
                Problem(
                    Message(
                        "stack-exports-no-members",
                        'the stack "{stack}" exports no members: it has no output {members}',
                        stack=stack,
                        members=_MEMBERS,
                    ),
                    hint=hint,
                )
            ]
        )
    # Under a name of its own, as the program may have a reference to that stack too.
    kubeconfigs = pulumi.StackReference(f"{stack}:{_MEMBERS}", stack).get_output(_KUBECONFIGS)
    return tuple(_member(stack, name, found[name], kubeconfigs) for name in sorted(found))


def _mapping(value: Any) -> Mapping[str, Any]:
    """Return a map as it is, and an empty one for anything else, which exports nothing."""
    return value if isinstance(value, Mapping) else {}


@attrs.frozen
class _Exported:
    """Exported form of one member, without its kubeconfig."""

    cluster: Cluster
    identifier: str = ""


def _member(stack: str, name: str, exported: Any, kubeconfigs: pulumi.Output[Any]) -> Member:
    kubeconfig = kubeconfigs.apply(lambda found: _mapping(found).get(name))
    try:
        known = decode(_Exported, exported)
        if known.cluster.name != name:
            raise MisfitError(
                Problem(
                    Message(
                        "not-name-under-exported", "is not the name under which it is exported"
                    ),
                    ("cluster", "name"),
                )
            )
    except MisfitError as misfit:
        hint = "update that stack, whose program exports member_exports(...)"
        raise RefusedError(
            Problem(problem.message, (_MEMBERS, name, *problem.path), hint, f"stack {stack}")
            for problem in misfit.problems
        ) from None
    return Member(known.cluster, kubeconfig, known.identifier)
