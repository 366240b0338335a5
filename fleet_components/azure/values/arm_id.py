"""Resource IDs: of clusters that can join a fleet, and of what declarations refer to."""

from __future__ import annotations

import re
from collections.abc import Iterator

import attrs

from fleet_components.model.message import Message
from fleet_components.model.problem import FieldPath, Problem
from fleet_components.model.typed import Later

# The services of Azure do not agree on the case of "resourceGroups".
_FORM = re.compile(
    "/subscriptions/(?P<subscription>[^/]+)/resource[gG]roups/(?P<resource_group>[^/]+)"
    "/providers/(?P<type>[^/]+/[^/]+)/(?P<name>[^/]+)"
)
AKS = "Microsoft.ContainerService/managedClusters"
SUBNET = "Microsoft.Network/virtualNetworks/subnets"
ARC = "Microsoft.Kubernetes/connectedClusters"
_NAME = "<name>"
_TYPES = {AKS.lower(): AKS, ARC.lower(): ARC}


@attrs.frozen
class ClusterId:
    """Parts of the resource ID of an AKS or Arc cluster.

    Attributes:
        subscription: the subscription's GUID.
        resource_group: the resource group.
        type: :data:`AKS` or :data:`ARC`.
        name: the cluster's name.
    """

    subscription: str
    resource_group: str
    type: str
    name: str


def parse_cluster_id(text: str) -> ClusterId | None:
    """Parse the resource ID of a cluster; None if it is invalid, or the ID of something that cannot
    join a fleet.
    """
    match = _FORM.fullmatch(text)
    kind = _TYPES.get(match["type"].lower()) if match else None
    return (
        ClusterId(match["subscription"], match["resource_group"], kind, match["name"])
        if match and kind
        else None
    )


def resource_problems(
    value: str | Later, types: str | tuple[str, ...], path: FieldPath
) -> Iterator[Problem]:
    """Yield a problem if a text is not the resource ID of one of the types, such as
    ``Microsoft.Network/dnsZones``.

    An output is known later and passes.
    """
    types = (types,) if isinstance(types, str) else types
    forms = [_form_of(kind) for kind in types]
    # The placeholder is escaped with the rest, so its escaped form is replaced.
    patterns = [re.escape(form).replace(re.escape(_NAME), "[^/]+") for form in forms]
    if isinstance(value, str) and not any(
        re.fullmatch(pattern, value, re.IGNORECASE) for pattern in patterns
    ):
        yield Problem(
            Message(
                "not-id", '"{value}" is not an ID of {types}', value=value, types=" or ".join(types)
            ),
            path,
            forms[0],
        )


def _form_of(kind: str) -> str:
    """Return the form of the resource IDs of a type. The name of an outer type stands before the
    inner type.
    """
    provider, *steps = kind.split("/")
    scope = f"/subscriptions/{_NAME}/resourceGroups/{_NAME}/providers/{provider}"
    return scope + "".join(f"/{step}/{_NAME}" for step in steps)
