"""The dynamic resources that decide and remember.

FROZEN PATH: every state refers to this module and to the class names in it, for ever. Never rename them. A
provider is pickled as a reference to its class, so it must keep no instance state; its code may change freely.

``check`` decides, because it is all that the engine runs in a preview; what it returns are the inputs that the
preview shows and that come back as ``olds`` in the next run. ``diff`` is left to the engine on purpose: it is
what reviewers read.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

import pulumi
from pulumi.dynamic import CheckFailure, CheckResult, CreateResult, Resource, ResourceProvider, UpdateResult

from fleet_components.model.problem import FleetError
from fleet_components.plan.record import Kept

Props = dict[str, Any]
R = TypeVar("R", bound=Kept[Any, Any])
FEED = "feed"
"""The input that only feeds the decision: path and digest of a file. Dropped from what ``check`` returns."""
REQUIRED_BY = "requiredBy"
"""An input of templates: where those go that need it. Dropped as well."""
PROTECTED = "protected"
"""An input of templates: their object must not be deleted."""
TEMPLATE = "Template/"
"""How the keys of placements begin that are templates of Karmada's policies."""


class RecordProvider(ResourceProvider):
    """Keeps what it is given, and nothing else: what ``check`` returned is the resource."""

    serialize_as_secret_always = False

    def create(self, props: Props) -> CreateResult:
        """Record it. The identity never depends on the contents, so nothing is ever replaced."""
        return CreateResult(str(props.get("key", "record")), dict(props))

    def update(self, _id: str, _olds: Props, news: Props) -> UpdateResult:
        """Record the new form; the default would drop the outputs."""
        return UpdateResult(dict(news))


class PlacementProvider(RecordProvider):
    """Schedules a placement and lays out its rollout."""

    def check(self, olds: Props, news: Props) -> CheckResult:
        """Decide; with unknown inputs what was decided before holds."""
        if REQUIRED_BY in news:
            from fleet_components.plan.karmada.feed import decide_template

            return _checked(news, olds, lambda feed, before: decide_template(feed, before, news[REQUIRED_BY]))
        from fleet_components.plan.feed import decide

        return _checked(news, olds, decide)


class BindingProvider(RecordProvider):
    """Records the revision that a cluster runs."""

    def check(self, olds: Props, news: Props) -> CheckResult:
        """Keep the time at which a revision arrived for as long as it stays."""
        since = olds.get("since") if olds.get("revision") == news.get("revision") else news.get("since")
        rest = {key: value for key, value in news.items() if key != "since"}
        return CheckResult({**rest, "since": since} if since else rest, [])


class RosterProvider(RecordProvider):
    """Remembers the members, and refuses to lose many of them at once."""

    def check(self, olds: Props, news: Props) -> CheckResult:
        """Compare the members with those of the last run."""
        from fleet_components.plan.feed import enroll

        return _checked(news, olds, enroll)


class BarrierProvider(RecordProvider):
    """Stands between two waves or phases, so that their dependencies grow linearly."""


class CreateOnlyProvider(RecordProvider):
    """Compares fields that only a creation can set with those that were accepted before."""

    def check(self, olds: Props, news: Props) -> CheckResult:
        """Refuse their change; nothing is held of a new thing."""
        from fleet_components.model.azure.create_only import RULES, refuse_changes

        old = olds.get("fields")
        problems = refuse_changes(old, news["fields"], RULES[news["kind"]]) if old else ()
        return CheckResult(news, [CheckFailure("", f"{news['key']}: {problem}") for problem in problems])


class Placement(Resource, module="fleet", name="Placement"):
    """What was decided for one placement, or for one template of Karmada's policies.

    Attributes:
        decisions: by cluster name: ``rank``, ``wave`` and ``revision``; of a template ``revision`` and ``replicas``.
        revision: the revision that all clusters are to run.
        memory: what the scheduler remembers.
        contents: the kept contents by revision, compressed; a secret.
        digests: of the same, without the data of Secrets.
    """

    decisions: pulumi.Output[Mapping[str, Mapping[str, int]]]
    revision: pulumi.Output[int]
    memory: pulumi.Output[Mapping[str, Any]]
    contents: pulumi.Output[Mapping[str, str]]
    digests: pulumi.Output[Mapping[str, str]]

    def __init__(self, name: str, props: Mapping[str, Any], opts: pulumi.ResourceOptions | None = None) -> None:
        declared = dict.fromkeys(("decisions", "revision", "memory", "digests"))
        hidden = pulumi.ResourceOptions(hide_diffs=["memory", "contents", "digests"])
        super().__init__(
            PlacementProvider(),
            name,
            # What goes in as a secret stays one in the state, in inputs and outputs.
            {**declared, "contents": pulumi.Output.secret({}), **props},
            pulumi.ResourceOptions.merge(hidden, opts),
        )

    def record(self, kind: type[R]) -> pulumi.Output[R]:
        """The whole record, in plain; what is made of it is no secret but for the data of Secrets."""
        parts = pulumi.Output.all(
            revision=self.revision,
            decisions=self.decisions,
            memory=self.memory,
            digests=self.digests,
            contents=pulumi.Output.unsecret(self.contents),
        )
        return parts.apply(kind.from_wire)


class Binding(Resource, module="fleet", name="Binding"):
    """What was done: registered after the objects of a cluster stand, with the revision that it runs."""

    def __init__(self, name: str, props: Mapping[str, Any], opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(BindingProvider(), name, dict(props), opts)


class Roster(Resource, module="fleet", name="Roster"):
    """The members of a fleet, by name."""

    def __init__(self, name: str, props: Mapping[str, Any], opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(RosterProvider(), name, dict(props), opts)


class Barrier(Resource, module="fleet", name="Barrier"):
    """A point that everything before it reaches first."""

    def __init__(self, name: str, props: Mapping[str, Any], opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(BarrierProvider(), name, dict(props), opts)


class CreateOnly(Resource, module="fleet", name="CreateOnly"):
    """The fields of one thing that only its creation can set.

    A component cannot see what it was given the last time; ``check`` can. Without it Pulumi would replace a whole
    cluster, or Azure would refuse the request in the middle of an update.

    Args:
        name: the resource's name.
        kind: what it is: ``HUB`` or ``MEMBER`` of ``fleet_components.model.azure.create_only``.
        key: what it is called in errors.
        fields: the values by name, maps for what has fields of its own, None for what is not there; all plain, so
            that previews can judge them.
    """

    def __init__(
        self, name: str, kind: str, key: str, fields: Mapping[str, Any], opts: pulumi.ResourceOptions | None = None
    ) -> None:
        super().__init__(CreateOnlyProvider(), name, {"kind": kind, "key": key, "fields": dict(fields)}, opts)


def has_unknown(value: Any) -> bool:
    """Whether a value holds anything that is not known before an update."""
    if isinstance(value, Mapping):
        return any(has_unknown(item) for item in value.values())
    if isinstance(value, list):
        return any(has_unknown(item) for item in value)
    return isinstance(value, pulumi.output.Unknown)


def _checked(news: Props, olds: Props, decide: Any) -> CheckResult:
    if has_unknown({key: value for key, value in news.items() if key != "__provider"}):
        # A preview must not show deletes that will not happen: the old decision holds.
        return CheckResult({**olds, "__provider": news["__provider"]}, [])
    kept = {key: value for key, value in news.items() if key not in (FEED, REQUIRED_BY)}
    try:
        return CheckResult({**kept, **decide(news[FEED], olds)}, [])
    except FleetError as error:
        return CheckResult(kept, [CheckFailure("", str(problem)) for problem in error.problems])
