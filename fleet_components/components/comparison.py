"""Comparison of objects that are not written with those on their members: reports, and drift that is left alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import attrs
import pulumi

from fleet_components.components.identification import Identification
from fleet_components.components.process import in_thread
from fleet_components.content.secret import REDACTED, secret_fields
from fleet_components.live.asked_objects import Wanted, observe
from fleet_components.live.kubeconfig import read_kubeconfig
from fleet_components.model.manifest import Manifest
from fleet_components.model.observed import ObservedMember, ObservedObject
from fleet_components.model.problem import FleetError
from fleet_components.plan.apply_mode import ApplyMode
from fleet_components.plan.record import Objects

_SECONDS = 30.0
_NO_KUBECONFIG = "its provider names no kubeconfig"

Compare = Callable[[Objects, ApplyMode, pulumi.Output[Any]], pulumi.Output[ObservedMember | None]]
"""Compares objects with those on a member once an output is known; None where nobody is asked."""


def compare(
    identification: Identification, name: str, objects: Objects, mode: ApplyMode, after: pulumi.Output[Any]
) -> pulumi.Output[ObservedMember | None]:
    """Compare objects with those on a member.

    Args:
        identification: the members.
        name: name of the member.
        objects: the objects as they are wanted.
        mode: how they are compared.
        after: output that has to be known first.

    Returns:
        What the member says; None in process, where objects are only rendered, and of a member that is lost.
    """
    kubeconfig = identification.asked_with(name)
    if kubeconfig is None:
        return pulumi.Output.from_input(None)
    manager = identification.plan.manager
    wanted = [Wanted(data, mode, manager, causes=False) for data in objects]

    async def ask(found: list[Any]) -> ObservedMember:
        return await in_thread(partial(_ask, found[0], name, wanted))

    # What is made of a secret kubeconfig is a secret, and would not be shown; ``live`` hides what is secret itself.
    return pulumi.Output.unsecret(pulumi.Output.all(kubeconfig, after).apply(ask))


def _ask(kubeconfig: str, name: str, wanted: Sequence[Wanted]) -> ObservedMember:
    if not kubeconfig:
        return ObservedMember(unreached=_NO_KUBECONFIG)
    try:
        text = read_kubeconfig(kubeconfig, name)
    except FleetError as error:
        return ObservedMember(unreached=error.problems[0].what)
    found = observe({name: text}, {name: wanted}, timeout=_SECONDS)[name]
    secret = {Manifest(item.data).key for item in wanted if secret_fields(item.data)}
    return attrs.evolve(
        found, objects={key: _hidden(observed, secret=key in secret) for key, observed in found.objects.items()}
    )


def _hidden(found: ObservedObject, *, secret: bool) -> ObservedObject:
    """Return what is known of an object, without words of an API server that may quote something secret."""
    return attrs.evolve(found, error=REDACTED) if found.error and secret else found
