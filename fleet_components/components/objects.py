"""One Pulumi resource per Kubernetes object, for objects of any kind."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

import pulumi

from fleet_components.content.secret import secret_fields
from fleet_components.plan.names import PATCH, type_token


class KubernetesObject(pulumi.CustomResource):
    """A Kubernetes object of any kind as a resource of the Kubernetes provider; custom resources
    need no schema.

    Whatever replaces it (a field that cannot be changed, ``pulumi up --replace``, ``pulumi state
    taint``, an earlier replacement that failed), the old object is deleted first. The provider asks
    for that only where it finds a field that cannot be changed; otherwise the engine creates first,
    which updates the object that stands under the name, and then deletes that same object as the
    old one (pulumi/pulumi v3.260.0, pkg/resource/deploy/step_generator.go, continueStepsFromDiff).

    Args:
        name: the resource's logical name.
        data: the object in wire form.
        opts: resource options, with an explicit provider and its version.
        patch: True to set the given fields of an object that somebody else has made, and no others.
    """

    def __init__(
        self,
        name: str,
        data: Mapping[str, Any],
        opts: pulumi.ResourceOptions,
        *,
        patch: bool = False,
    ) -> None:
        token = type_token(data) + (PATCH if patch else "")
        first = pulumi.ResourceOptions(delete_before_replace=True)
        super().__init__(token, name, dict(data), pulumi.ResourceOptions.merge(opts, first))


@cache
def provider_version() -> str:
    """Return the version of the Kubernetes provider plugin that belongs to the installed
    package.
    """
    from pulumi_kubernetes import _utilities

    return str(_utilities.get_version())


def sealed(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return the object with the fields that hold something secret marked as such, but for its
    metadata.
    """
    # An encrypted name could not be read back without the passphrase, and the object would be taken
    # for gone.
    hidden = secret_fields(data) - {"metadata"}
    return {k: pulumi.Output.secret(v) if k in hidden else v for k, v in data.items()}
