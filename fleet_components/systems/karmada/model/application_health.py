"""Application health as input: which applications are Unhealthy on which member.

Karmada's application failover depends on it. It is recorded by hand or by a tool::

    apiVersion: fleet-components/v1
    kind: ApplicationHealth
    metadata: {name: seen}
    spec:
      unhealthy:
      - {apiVersion: apps/v1, kind: Deployment, namespace: shop, name: web, cluster: paris,
         since: "2026-11-21T10:00:00Z"}
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime

import attrs

from fleet_components.model.cluster import read_time
from fleet_components.model.codec import MisfitError
from fleet_components.model.manifest import Manifest, ObjectKey
from fleet_components.model.message import Message
from fleet_components.model.problem import FleetError, Problem
from fleet_components.model.reader import API_VERSION, read

KIND = "ApplicationHealth"


@attrs.frozen(kw_only=True)
class UnhealthyApplication:
    """An application that is Unhealthy on one member.

    Attributes:
        api_version: ``group/version`` of the object.
        kind: kind of the object.
        namespace: namespace of the object; empty for a cluster-scoped one.
        name: name of the object.
        cluster: name of the member.
        since: when it was first seen Unhealthy, as an RFC 3339 time; None if it has been Unhealthy
            for longer than any toleration.
    """

    api_version: str
    kind: str
    namespace: str = ""
    name: str
    cluster: str
    since: str | None = None

    @property
    def key(self) -> ObjectKey:
        """Key of the object."""
        return ObjectKey(self.api_version.rpartition("/")[0], self.kind, self.namespace, self.name)

    @property
    def time(self) -> datetime | None:
        """``since`` as a datetime; None if it is not given.

        Raises:
            ValueError: ``since`` is not an RFC 3339 time with a time zone.
        """
        return read_time(self.since)


@attrs.frozen
class ApplicationHealth:
    """A parsed ``ApplicationHealth`` object.

    Attributes:
        unhealthy: the Unhealthy applications.
        manifest: the object that was parsed.
    """

    unhealthy: tuple[UnhealthyApplication, ...]
    manifest: Manifest

    def problem(self, position: int, what: Message, field: str, hint: str) -> Problem:
        """Return a problem located at a field of the application at ``position``."""
        return self.manifest.problem(what, ("spec", "unhealthy", position, field), hint)


def read_health(manifests: Iterable[Manifest]) -> tuple[ApplicationHealth, ...]:
    """Parse all ``ApplicationHealth`` objects among the manifests; other objects are ignored.

    Raises:
        FleetError: at least one of them is invalid; carries all problems.
    """
    problems: list[Problem] = []
    found = []
    for manifest in manifests:
        if (manifest.api_version, manifest.kind) == (API_VERSION, KIND):
            try:
                found.append(_read(manifest))
            except FleetError as error:
                problems += error.problems
    if problems:
        raise FleetError(problems)
    return tuple(found)


@attrs.frozen
class _Spec:
    unhealthy: tuple[UnhealthyApplication, ...]


def _read(manifest: Manifest) -> ApplicationHealth:
    try:
        spec: _Spec = read(_Spec, manifest.data.get("spec"))
    except MisfitError as misfit:
        raise FleetError(
            manifest.located(problem, "spec") for problem in misfit.problems
        ) from misfit
    health = ApplicationHealth(spec.unhealthy, manifest)
    problems = [p for position in range(len(spec.unhealthy)) if (p := _no_time(health, position))]
    if problems:
        raise FleetError(problems)
    return health


def _no_time(health: ApplicationHealth, position: int) -> Problem | None:
    try:
        _ = health.unhealthy[position].time
    except ValueError as error:
        return health.problem(
            position,
            Message("other-error", "{reason}", reason=error),
            "since",
            "write it as 2026-01-31T12:00:00Z",
        )
    return None


def by_object(
    found: Iterable[ApplicationHealth],
) -> Mapping[ObjectKey, Mapping[str, datetime | None]]:
    """Return, for each object, the members on which it is Unhealthy and since when."""
    seen: dict[ObjectKey, dict[str, datetime | None]] = {}
    for health in found:
        for application in health.unhealthy:
            seen.setdefault(application.key, {})[application.cluster] = application.time
    return seen
