"""Define the dynamic resources that decide and keep records.

FROZEN PATH: every state refers to this module and to the class names in it. Never rename them. A
provider is pickled as a reference to its class, so it must not have instance state; its code may
change freely.

The decision is made in ``check``, because it is the only provider method that the engine runs in a
preview. What
``check`` returns become the inputs: the preview shows them, and the next run gets them as ``olds``.
There is no
``diff`` method on purpose: the engine's own diff is what reviewers read.
"""

from __future__ import annotations

import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import cache
from typing import Any

import pulumi
from pulumi.dynamic import (
    CheckFailure,
    CheckResult,
    ConfigureRequest,
    CreateResult,
    Resource,
    ResourceProvider,
    UpdateResult,
)

from fleet_components.model.problem import FleetError

Props = dict[str, Any]
FEED = "feed"
"""The input that only a decision needs: the path of a file. ``check`` does not return it."""
REPORTED = ("differences", "failures", "degraded")
"""The inputs of a report that a member is asked for."""
# Seconds between two checks whether the engine is still there.
_LOOK_SECONDS = 3


class RecordProvider(ResourceProvider):
    """Provider of a resource that stores its inputs: what ``check`` returned is the resource."""

    # The SDK's default marks the provider as a secret; it is only a reference to its class.
    serialize_as_secret_always = False

    def configure(self, _req: ConfigureRequest) -> None:
        """Let the process of the providers end with its engine: the SDK's server waits for ever."""
        # The host of dynamic providers gets the address of the engine as its last argument.
        end_with_engine(sys.argv[-1], signal.SIGTERM)

    def create(self, props: Props) -> CreateResult:
        """Store the inputs. The id never depends on the contents, so the resource is never
        replaced.
        """
        return CreateResult(str(props.get("key", "record")), dict(props))

    def update(self, _id: str, _olds: Props, news: Props) -> UpdateResult:
        """Store the new inputs; the default implementation would drop the outputs."""
        return UpdateResult(dict(news))


class SubjectProvider(RecordProvider):
    """Provider of a resource that decides a subject."""

    def check(self, olds: Props, news: Props) -> CheckResult:
        """Return the inputs with the decision; while inputs are unknown, the last decision
        holds.
        """
        from fleet_components.plan.feed import decide

        return _checked(news, olds, decide)


class PlacementProvider(SubjectProvider):
    """Provider that schedules a KubeFleet placement and plans its rollout."""


class TemplateProvider(SubjectProvider):
    """Provider that decides which Karmada policy applies to a template, and which members get
    it.
    """


class BindingProvider(RecordProvider):
    """Provider that records the revision that a member runs."""

    def check(self, olds: Props, news: Props) -> CheckResult:
        """Keep the time at which a revision arrived while the revision and its overrides stay.

        If they came in an update without a time, the first later one that has a time counts. Where
        ``--target`` or ``--exclude`` has left out what was to be sent (``unsent``), the record
        stays: that is still to be done.
        """
        if news.pop("unsent", None):
            # The record of a new binding says that no revision has arrived.
            nothing = {**news, "revision": None, "unsent": True}
            return CheckResult({**(olds or nothing), "__provider": news["__provider"]}, [])
        # Each run brings a time of its own: taken over, it would change every binding and begin its
        # wait anew.
        stays = all(olds.get(field) == news.get(field) for field in ("revision", "overrides"))
        since = (olds.get("since") if stays else None) or news.get("since")
        rest = {key: value for key, value in news.items() if key != "since"}
        return CheckResult({**rest, "since": since} if since else rest, [])


class RosterProvider(RecordProvider):
    """Provider that records the members, and refuses an update that would delete too much."""

    def check(self, olds: Props, news: Props) -> CheckResult:
        """Refuse the update if its plan is refused, in case the program has continued in spite of
        that.
        """
        from fleet_components.plan.feed import enroll

        def enrolled(feed: Mapping[str, str], _: Mapping[str, Any]) -> Props:
            enroll(feed)
            return {}

        return _checked(news, olds, enrolled)


class MemberProvider(RecordProvider):
    """Provider that records which cluster a member is."""

    def check(self, olds: Props, news: Props) -> CheckResult:
        """Refuse a kubeconfig that leads to another cluster; if the cluster cannot be asked, its
        last uid is kept.
        """
        from fleet_components.plan.lost import other_cluster

        # Unknown in a preview while the same program creates the cluster: like a cluster that does
        # not answer.
        if has_unknown(news.get("uid")):
            news = {**news, "uid": None}
        # Tokens are not recorded: the update after the one that they were meant for would show them
        # as removed.
        confirm, kept = (
            news.get("confirm"),
            {key: value for key, value in news.items() if key != "confirm"},
        )
        problem = other_cluster(olds, news, confirm if isinstance(confirm, list) else [])
        uid, old = news.get("uid") or olds.get("uid"), olds.get("uid")
        # An annotation of the objects shows which of them are on the other cluster already.
        anew = uid if old and old != uid else olds.get("anew")
        rest = {key: value for key, value in kept.items() if key != "uid"}
        rest |= {"anew": anew} if anew else {}
        # Without the name of a property: for a named one the engine prints its whole value.
        failures = [CheckFailure("", str(problem))] if problem else []
        return CheckResult({**rest, "uid": uid} if uid else rest, failures)


class ReportProvider(RecordProvider):
    """Provider that records how a member's objects differ from what a placement would write."""

    def check(self, olds: Props, news: Props) -> CheckResult:
        """Keep the last report while the member is not asked, or does not answer."""
        asked = news.get("differences")
        last = olds if asked is None or has_unknown(asked) else news
        rest = {key: value for key, value in news.items() if key not in REPORTED}
        return CheckResult(
            {**rest, **{key: last[key] for key in REPORTED if last.get(key) is not None}}, []
        )


class BarrierProvider(RecordProvider):
    """Provider of a point between two waves or phases, so that the number of dependencies grows
    linearly.
    """


class _Subject(Resource):
    """The decision of one subject.

    Attributes:
        decisions: by member: ``rank``, ``wave`` and ``revision``; for a template ``revision`` and
            ``replicas``.
        revision: the revision that all members are to run.
        memory: what the scheduler remembers.
        contents: contents in use by revision, compressed; a secret.
        digests: digests of the same contents without the data of Secrets.
    """

    PROVIDER: Callable[[], SubjectProvider]

    decisions: pulumi.Output[Mapping[str, Mapping[str, int]]]
    revision: pulumi.Output[int]
    memory: pulumi.Output[Mapping[str, Any]]
    contents: pulumi.Output[Mapping[str, str]]
    digests: pulumi.Output[Mapping[str, str]]

    def __init__(
        self, name: str, props: Mapping[str, Any], opts: pulumi.ResourceOptions | None = None
    ) -> None:
        # The SDK makes outputs only of the properties that it is given, so those that ``check``
        # adds are named here.
        declared = dict.fromkeys(("decisions", "revision", "memory", "digests", "format"))
        hidden = pulumi.ResourceOptions(hide_diffs=["memory", "contents", "digests"])
        super().__init__(
            type(self).PROVIDER(),
            name,
            # A secret input is encrypted in the inputs and outputs of the state; with
            # additional_secret_outputs the inputs would be in plain text.
            {**declared, "contents": pulumi.Output.secret({}), **props},
            pulumi.ResourceOptions.merge(hidden, opts),
        )


# Without module and name all dynamic resources have one type, which policies and transforms cannot
# tell apart.
class Placement(_Subject, module="fleet", name="Placement"):
    """The decision of one KubeFleet placement."""

    PROVIDER = PlacementProvider


class Template(_Subject, module="fleet", name="Template"):
    """The decision of one Karmada template."""

    PROVIDER = TemplateProvider


class Binding(Resource, module="fleet", name="Binding"):
    """Record of the revision that a member runs, registered after the member's objects stand.

    The decisions cannot tell what runs: they are updated first, even if the update fails
    afterwards.

    Attributes:
        revision: the revision.
    """

    revision: pulumi.Output[int]

    def __init__(
        self, name: str, props: Mapping[str, Any], opts: pulumi.ResourceOptions | None = None
    ) -> None:
        super().__init__(BindingProvider(), name, dict(props), opts)


class Report(Resource, module="fleet", name="Report"):
    """Differences between the objects on a member and what a placement would write, which is never
    written.

    Attributes:
        differences: by object and field: what is ``wanted``, and what is ``there``; missing while
            the member could never be asked.
        failures: by object, why it could not be compared.
        degraded: the objects that were compared field by field, since the API server would not take
            them as they are.
    """

    differences: pulumi.Output[Mapping[str, Mapping[str, Mapping[str, str]]]]
    failures: pulumi.Output[Mapping[str, str]]
    degraded: pulumi.Output[list[str]]

    def __init__(
        self, name: str, props: Mapping[str, Any], opts: pulumi.ResourceOptions | None = None
    ) -> None:
        super().__init__(ReportProvider(), name, {**dict.fromkeys(REPORTED), **props}, opts)


class Roster(Resource, module="fleet", name="Roster"):
    """The members of a fleet, by name, and what is remembered of the fleet as a whole."""

    def __init__(
        self, name: str, props: Mapping[str, Any], opts: pulumi.ResourceOptions | None = None
    ) -> None:
        super().__init__(RosterProvider(), name, dict(props), opts)


class Barrier(Resource, module="fleet", name="Barrier"):
    """A point in the update that all earlier resources reach first."""

    def __init__(
        self, name: str, props: Mapping[str, Any], opts: pulumi.ResourceOptions | None = None
    ) -> None:
        super().__init__(BarrierProvider(), name, dict(props), opts)


class Member(Resource, module="fleet", name="Member"):
    """Record of which cluster a member is, and of what was there when it was lost.

    Attributes:
        uid: the cluster's own uid; missing while the cluster could never be asked.
    """

    uid: pulumi.Output[str]

    def __init__(
        self, name: str, props: Mapping[str, Any], opts: pulumi.ResourceOptions | None = None
    ) -> None:
        super().__init__(MemberProvider(), name, {"uid": None, **props}, opts)


@cache
def end_with_engine(address: str, sign: int) -> None:
    """Send this process a signal once its engine is gone, after a SIGKILL for example: nobody else
    would end it.

    Args:
        address: the address at which the engine listens; without one nothing happens.
        sign: the signal.
    """
    host, _, port = address.rpartition(":")
    if port.isdecimal():
        threading.Thread(target=_watch, args=(host, int(port), sign), daemon=True).start()


def _watch(host: str, port: int, sign: int) -> None:
    alive = True
    while alive:
        time.sleep(_LOOK_SECONDS)
        with suppress(OSError):  # too many open files, for example, says nothing of the engine
            try:
                socket.create_connection((host, port)).close()
            except ConnectionRefusedError:
                alive = False
    os.kill(os.getpid(), sign)


def has_unknown(value: Any) -> bool:
    """Return whether a value has any part that is not known before an update."""
    if isinstance(value, Mapping):
        return any(has_unknown(item) for item in value.values())
    if isinstance(value, list):
        return any(has_unknown(item) for item in value)
    # The dynamic host hands ``check`` objects of this class, also inside of maps and lists, and not
    # the SDK's marker.
    return isinstance(value, pulumi.output.Unknown)


def _checked(
    news: Props,
    olds: Props,
    decide: Callable[[Mapping[str, str], Mapping[str, Any]], Mapping[str, Any]],
) -> CheckResult:
    if has_unknown({key: value for key, value in news.items() if key != "__provider"}):
        # With the old decision the preview does not show deletes that will not happen.
        return CheckResult({**olds, "__provider": news["__provider"]}, [])
    # The path is another one in each run: kept, it would be an update of every resource.
    kept = {key: value for key, value in news.items() if key != FEED}
    try:
        return CheckResult({**kept, **decide(news[FEED], olds)}, [])
    except FleetError as error:
        # Without the name of a property: for a named one the engine prints its whole value.
        return CheckResult(kept, [CheckFailure("", str(problem)) for problem in error.problems])
