"""An object template that Karmada places, and how much of it the members can take."""

from __future__ import annotations

from collections.abc import Mapping

import attrs

from fleet_components.model.typed import Typed


@attrs.frozen
class Template(Typed):
    """What the scheduler knows of an object.

    Attributes:
        api_version: ``group/version``, or the version alone for the core group.
        kind: its kind.
        name: its name.
        namespace: its namespace; empty for a cluster-scoped object.
        replicas: how many replicas it asks for; 0 for what has none.
        requests: what one replica requests, by resource; None when it states no requirements.
    """

    api_version: str
    kind: str
    name: str
    namespace: str = ""
    replicas: int = 0
    requests: Mapping[str, str] | None = None

    @property
    def workload(self) -> bool:
        """It has replicas, or requirements of a replica. Other objects go to every member that is selected."""
        return self.replicas > 0 or self.requests is not None

    @property
    def binding(self) -> str:
        """The binding that Karmada makes for it, as events name it."""
        name = f"{self.name.replace(':', '.')}-{self.kind}".lower()
        return f"ResourceBinding({self.namespace}/{name})" if self.namespace else f"ClusterResourceBinding({name})"


@attrs.frozen
class Estimates(Typed):
    """How many replicas of a template its members can take: declared or recorded, never asked for live.

    Without any, Karmada's general estimator reads the members' resource summaries.

    Attributes:
        available: how many more a member can take, -1 when not known; a member that is missing is not known.
        capacity: how many it can take in all, those that it holds already included.
    """

    available: Mapping[str, int] | None = None
    capacity: Mapping[str, int] | None = None
