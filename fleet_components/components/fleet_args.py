"""Arguments of the fleet component."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

import attrs
import pulumi

from fleet_components.components.member import Member, wrong_provider
from fleet_components.components.refusal import Arguments, refusing
from fleet_components.model.message import Message
from fleet_components.model.problem import Problem
from fleet_components.model.typed import LATER, fitted
from fleet_components.option_values import Renamed
from fleet_components.options import OPTIONS, field_of, wrong_options
from fleet_components.plan.source import AnySource, Source, source_from

_BY_MEMBER = (
    "give a dict by member name: each of its values may be an output, the dict itself may not"
)


def _source(given: AnySource) -> Source:
    with refusing():
        return source_from(fitted(AnySource, given, ("FleetArgs", "source")))


@attrs.frozen
class FleetArgs(Arguments):
    """Arguments of a fleet.

    Kubeconfigs may be outputs of other resources. Everything else is plain, because the plan is
    made before any resource is registered.
    """

    source: Source = attrs.field(converter=_source)
    members: Sequence[Member] = ()
    kubeconfigs: Mapping[str, pulumi.Input[str]] = attrs.field(
        factory=dict, repr=False, metadata={LATER: _BY_MEMBER}
    )
    render_to: str = field_of("render_to")
    as_of: datetime | None = field_of("as_of")
    approvals: Sequence[str] = field_of("approvals")
    lost: Sequence[str] = field_of("lost")
    limit: float = field_of("limit")
    confirm: Sequence[str] = field_of("confirm")
    keep_cluster_resources: bool = field_of("keep_cluster_resources")
    keep_found: bool = field_of("keep_found")
    max_wait: int = field_of("max_wait")
    ready_timeout: int = field_of("ready_timeout")
    renamed: Renamed = field_of("renamed")
    takes_over: Mapping[str, Sequence[str]] = field_of("takes_over")
    takes_from: Sequence[str] = field_of("takes_from")
    pass_over: Sequence[str] = field_of("pass_over")
    skip_checks: Sequence[str] = field_of("skip_checks")
    protect: bool = field_of("protect")
    plugins: Sequence[str] = field_of("plugins")
    objects: Sequence[Any] = field_of("objects", repr=False)
    providers: Mapping[str, pulumi.ProviderResource] = attrs.field(factory=dict)
    delivery: str = field_of("delivery")
    hub: pulumi.Input[str] | pulumi.ProviderResource | None = field_of("hub", repr=False)
    kubefleet: str = field_of("kubefleet")
    karmada: str = field_of("karmada")
    moving: bool = field_of("moving")

    def wrong_values(self) -> Iterator[Problem]:
        """Yield a problem for each value that has the right type and is still invalid."""
        yield from wrong_options(self)
        for name in sorted(self.kubeconfigs.keys() & self.providers.keys()):
            yield Problem(
                Message(
                    "member-kubeconfig-well",
                    'the member "{name}" has a kubeconfig as well',
                    name=name,
                ),
                ("providers", name),
                "give one of the two",
            )
        for name, provider in self.providers.items():
            yield from wrong_provider(provider, ("providers", name))


def _documented(text: str) -> str:
    """Return a docstring with what the table says of each argument."""
    lines = (f"    {name}: {OPTIONS[name].help}." for name in attrs.fields_dict(FleetArgs))
    return "\n".join([inspect.cleandoc(text), "", "Attributes:", *lines])


# ``help()`` and the page of settings read the docstring of the class itself.
FleetArgs.__doc__ = _documented(FleetArgs.__doc__ or "")
