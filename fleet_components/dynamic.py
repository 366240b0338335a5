"""The dynamic resources that decide and remember.

FROZEN PATH: every state refers to this module and to the class names in it, for ever. Never rename them. A
provider is pickled as a reference to its class, so it must keep no instance state; its code may change freely.

``check`` decides, because it is all that the engine runs in a preview; what it returns are the inputs that the
preview shows and that come back as ``olds`` in the next run. ``diff`` is left to the engine on purpose: it is
what reviewers read.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pulumi
from pulumi.dynamic import CheckFailure, CheckResult, CreateResult, Resource, ResourceProvider, UpdateResult

from fleet_components.model.problem import FleetError

Props = dict[str, Any]
FEED = "feed"
"""The input that only feeds a decision: path and digest of a file. Dropped from what ``check`` returns."""


class RecordProvider(ResourceProvider):
    """Keeps what it is given, and nothing else: what ``check`` returned is the resource."""

    serialize_as_secret_always = False

    def create(self, props: Props) -> CreateResult:
        """Record it. The identity never depends on the contents, so nothing is ever replaced."""
        return CreateResult(str(props.get("key", "record")), dict(props))

    def update(self, _id: str, _olds: Props, news: Props) -> UpdateResult:
        """Record the new form; the default would drop the outputs."""
        return UpdateResult(dict(news))


class SubjectProvider(RecordProvider):
    """Decides what is decided one by one."""

    def check(self, olds: Props, news: Props) -> CheckResult:
        """Decide; with unknown inputs what was decided before holds."""
        from fleet_components.plan.feed import decide

        return _checked(news, olds, decide)


class PlacementProvider(SubjectProvider):
    """Schedules a placement and lays out its rollout."""


class TemplateProvider(SubjectProvider):
    """Decides which policy of Karmada has an object, and which members get it."""


class BindingProvider(RecordProvider):
    """Records the revision that a cluster runs."""

    def check(self, olds: Props, news: Props) -> CheckResult:
        """Keep the time at which a revision arrived for as long as it stays."""
        since = olds.get("since") if olds.get("revision") == news.get("revision") else news.get("since")
        rest = {key: value for key, value in news.items() if key != "since"}
        return CheckResult({**rest, "since": since} if since else rest, [])


class RosterProvider(RecordProvider):
    """Remembers the members, and refuses an update that would take too much."""

    def check(self, olds: Props, news: Props) -> CheckResult:
        """Say why the update must not happen, should the program have gone on in spite of it."""
        from fleet_components.plan.feed import enroll

        def enrolled(feed: Mapping[str, str], _: Mapping[str, Any]) -> Props:
            enroll(feed)
            return {}

        return _checked(news, olds, enrolled)


class MemberProvider(RecordProvider):
    """Remembers which cluster a member is."""

    def check(self, olds: Props, news: Props) -> CheckResult:
        """Refuse a kubeconfig that leads to another cluster; a cluster that cannot be asked stays what it was."""
        from fleet_components.plan.identity import other_cluster

        if has_unknown(news.get("uid")):
            news = {**news, "uid": None}
        confirm, kept = news.get("confirm"), {key: value for key, value in news.items() if key != "confirm"}
        problem = other_cluster(olds, news, confirm if isinstance(confirm, list) else [])
        uid = news.get("uid") or olds.get("uid")
        rest = {key: value for key, value in kept.items() if key != "uid"}
        failures = [CheckFailure("", str(problem))] if problem else []
        return CheckResult({**rest, "uid": uid} if uid else rest, failures)


class BarrierProvider(RecordProvider):
    """Stands between two waves or phases, so that their dependencies grow linearly."""


class _Subject(Resource):
    """What was decided one by one.

    Attributes:
        decisions: by cluster name: ``rank``, ``wave`` and ``revision``; of a template ``revision`` and ``replicas``.
        revision: the revision that all clusters are to run.
        memory: what the scheduler remembers.
        contents: the kept contents by revision, compressed; a secret.
        digests: of the same, without the data of Secrets.
    """

    PROVIDER: Callable[[], SubjectProvider]

    decisions: pulumi.Output[Mapping[str, Mapping[str, int]]]
    revision: pulumi.Output[int]
    memory: pulumi.Output[Mapping[str, Any]]
    contents: pulumi.Output[Mapping[str, str]]
    digests: pulumi.Output[Mapping[str, str]]

    def __init__(self, name: str, props: Mapping[str, Any], opts: pulumi.ResourceOptions | None = None) -> None:
        declared = dict.fromkeys(("decisions", "revision", "memory", "digests", "format"))
        hidden = pulumi.ResourceOptions(hide_diffs=["memory", "contents", "digests"])
        super().__init__(
            type(self).PROVIDER(),
            name,
            # What goes in as a secret stays one in the state, in inputs and outputs.
            {**declared, "contents": pulumi.Output.secret({}), **props},
            pulumi.ResourceOptions.merge(hidden, opts),
        )


class Placement(_Subject, module="fleet", name="Placement"):
    """What was decided for one KubeFleet placement."""

    PROVIDER = PlacementProvider


class Template(_Subject, module="fleet", name="Template"):
    """What was decided for one object that Karmada's policies steer."""

    PROVIDER = TemplateProvider


class Binding(Resource, module="fleet", name="Binding"):
    """What was done: registered after the objects of a cluster stand, with the revision that it runs.

    Attributes:
        revision: the revision.
    """

    revision: pulumi.Output[int]

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


class Member(Resource, module="fleet", name="Member"):
    """Which cluster a member is, and what was brought there before it was lost.

    Attributes:
        uid: the cluster's own uid, where it could ever be asked.
    """

    uid: pulumi.Output[str]

    def __init__(self, name: str, props: Mapping[str, Any], opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(MemberProvider(), name, {"uid": None, **props}, opts)


def has_unknown(value: Any) -> bool:
    """Whether a value holds anything that is not known before an update."""
    if isinstance(value, Mapping):
        return any(has_unknown(item) for item in value.values())
    if isinstance(value, list):
        return any(has_unknown(item) for item in value)
    return isinstance(value, pulumi.output.Unknown)


def _checked(
    news: Props, olds: Props, decide: Callable[[Mapping[str, str], Mapping[str, Any]], Mapping[str, Any]]
) -> CheckResult:
    if has_unknown({key: value for key, value in news.items() if key != "__provider"}):
        # A preview must not show deletes that will not happen: the old decision holds.
        return CheckResult({**olds, "__provider": news["__provider"]}, [])
    kept = {key: value for key, value in news.items() if key != FEED}
    try:
        return CheckResult({**kept, **decide(news[FEED], olds)}, [])
    except FleetError as error:
        return CheckResult(kept, [CheckFailure("", str(problem)) for problem in error.problems])
