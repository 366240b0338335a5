"""The approvals that update runs ask for on a hub, and what each of them lets happen there.

Source: KubeFleet v0.3.1, ``pkg/controllers/updaterun``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import attrs

from fleet_components.model.text import few
from fleet_components.systems.kubefleet.hub.kinds import conditions_of

APPROVED, _ACCEPTED, _SUCCEEDED = "Approved", "ApprovalAccepted", "Succeeded"
_ELAPSED = "WaitTimeElapsed"
_TASKS = {"before": "beforeStageTaskStatus", "after": "afterStageTaskStatus"}
_MOST = 20
Object = Mapping[str, Any]


@attrs.frozen
class HubApproval:
    """A request for an approval.

    Attributes:
        request: the object on the hub.
        run: the update run that asks for it; None if that is gone.
        reason: why nothing waits for it; empty if the run does.
        opens: what happens once it is given, in words.
        words: the request in one line.
    """

    request: Object = attrs.field(repr=False)
    run: Object | None = attrs.field(default=None, repr=False)
    reason: str = ""
    opens: str = ""
    words: str = ""

    @property
    def name(self) -> str:
        """Name of the request, after its namespace and a slash if it has one."""
        metadata = self.request["metadata"]
        return "/".join(filter(None, (metadata.get("namespace"), metadata["name"])))


def approvals_of(requests: Iterable[Object], runs: Iterable[Object]) -> tuple[HubApproval, ...]:
    """Return all requests for approvals, those that are waited for first, then by name.

    Args:
        requests: the objects ClusterApprovalRequest and ApprovalRequest of a hub.
        runs: its update runs.
    """
    known = {(run["metadata"].get("namespace") or "", run["metadata"]["name"]): run for run in runs}
    found = (_approval(request, known) for request in requests)
    return tuple(sorted(found, key=lambda approval: (bool(approval.reason), approval.name)))


def approved(request: Object, when: str) -> dict[str, Any]:
    """Return the change of a request's status by which it is approved, as a merge patch.

    Args:
        request: the request, as the hub has it: if somebody has changed it since, the hub refuses
            the patch.
        when: the time, as the API writes times.
    """
    metadata = request["metadata"]
    condition = {
        "type": APPROVED,
        "status": "True",
        "reason": "ApprovedByFleetApprove",
        "message": "approved by fleet approve --hub",
        "lastTransitionTime": when,
        # The hub passes over a condition about another generation.
        "observedGeneration": metadata.get("generation", 1),
    }
    # A merge patch replaces the whole list, so it has to repeat the other conditions.
    others = [
        data for data in conditions_of(request.get("status")).values() if data["type"] != APPROVED
    ]
    patch: dict[str, Any] = {"status": {"conditions": [*others, condition]}}
    version = metadata.get("resourceVersion")
    if version:
        patch["metadata"] = {"resourceVersion": version}
    return patch


def _approval(request: Object, runs: Mapping[tuple[str, str], Object]) -> HubApproval:
    spec, metadata = request.get("spec") or {}, request["metadata"]
    run = runs.get((metadata.get("namespace") or "", str(spec.get("parentStageRollout"))))
    # One reason is enough: no later one is computed.
    reason = next(_reason(request, run), "")
    opens = (
        ""
        if reason or run is None
        else "; ".join(_opens(run, metadata["name"], str(spec.get("targetStage"))))
    )
    placement = ((run or {}).get("spec") or {}).get("placementName")
    words = f"stage {spec.get('targetStage')} of run {spec.get('parentStageRollout')}"
    return HubApproval(
        request, run, reason, opens, words + (f", which rolls out {placement}" if placement else "")
    )


def _reason(request: Object, run: Object | None) -> Iterator[str]:
    """Yield why nothing waits for an approval."""
    conditions = conditions_of(request.get("status"))
    if _is_true(conditions.get(_ACCEPTED)):
        yield "was given, and the run has gone on"
    generation = request["metadata"].get("generation", 1)
    given = conditions.get(APPROVED)
    if _is_true(given) and given is not None and given.get("observedGeneration") == generation:
        yield "is given already"
    if request["metadata"].get("deletionTimestamp"):
        yield "is being deleted"
    if run is None:
        yield "its update run is gone"
        return
    ended = conditions_of(run.get("status")).get(_SUCCEEDED)
    if ended and ended.get("status") in ("True", "False"):
        yield f"its update run has ended: {ended.get('reason')}"


def _opens(run: Object, name: str, stage: str) -> Iterator[str]:
    """Yield what happens once an approval is given."""
    status = run.get("status") or {}
    stages = [data for data in status.get("stagesStatus") or () if isinstance(data, Mapping)]
    place = next(
        (number for number, data in enumerate(stages) if data.get("stageName") == stage), None
    )
    if place is None:
        yield "the run goes on"
        return
    index = status.get("resourceSnapshotIndexUsed")
    content = f"snapshot {index} of the hub" if index not in (None, "") else "what is selected"
    begins = _asks(stages[place], "before", name)
    if not begins and _is_timed(stages[place]):
        yield f"once the wait of stage {stage} is over, too"
    # An approval before a stage opens this stage, one after it the next.
    following = stages[place:] if begins else stages[place + 1 :]
    then = next((data for data in following if data.get("clusters")), None)
    if then is None:
        left = [
            cluster["clusterName"]
            for cluster in (status.get("deletionStageStatus") or {}).get("clusters") or ()
        ]
        yield (
            f"the run ends: {few(left, _MOST)} {'is' if len(left) == 1 else 'are'} emptied"
            if left
            else "the run ends"
        )
    else:
        if not begins and (asked := _named(then, "before")):
            yield f"then stage {then['stageName']} asks for {asked}"
        members = [cluster["clusterName"] for cluster in then["clusters"]]
        verb = "gets" if len(members) == 1 else "get"
        yield f"stage {then['stageName']} begins: {few(members, _MOST)} {verb} {content}"
    if (run.get("spec") or {}).get("state") == "Stop":
        yield "the run is stopped: it goes on once its state is Run"


def _asks(stage: Object, when: str, name: str) -> bool:
    return _named(stage, when) == name


def _named(stage: Object, when: str) -> str:
    """Return the name of the approval that a stage asks for before or after itself; empty for
    none.
    """
    tasks = stage.get(_TASKS[when]) or ()
    return next(
        (str(task.get("approvalRequestName")) for task in tasks if task.get("type") == "Approval"),
        "",
    )


def _is_timed(stage: Object) -> bool:
    """Return whether a wait of a stage is not over."""
    tasks = (item for item in stage.get(_TASKS["after"]) or () if item.get("type") == "TimedWait")
    return any(not _is_true(conditions_of(task).get(_ELAPSED)) for task in tasks)


def _is_true(condition: Mapping[str, Any] | None) -> bool:
    return condition is not None and condition.get("status") == "True"
