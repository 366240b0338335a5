"""Rules of KubeFleet's definitions that are not plain data, each found by the message that the API
server prints.
"""

from __future__ import annotations

import re
from typing import Any

from fleet_components.admission.schema import ValueRule, rule, transition

_SINGLE_SELECTOR = "NamespaceWithResourceSelectors"
_PERCENT = "^(100|[0-9]{1,2})%$"
_WAIT = "write, for example, {type: TimedWait, waitTime: 1h} or {type: Approval}"


def _has_none(value: Any, *names: str) -> bool:
    return not any(name in value for name in names)


def _namespaces(spec: Any) -> list[Any]:
    terms = spec["resourceSelectors"]
    return [
        it for it in terms if (it["group"], it["version"], it["kind"]) == ("", "v1", "Namespace")
    ]


def _single_selector(spec: Any) -> list[Any]:
    return [term for term in _namespaces(spec) if term.get("selectionScope") == _SINGLE_SELECTOR]


def _by_name(spec: Any) -> bool:
    terms = _single_selector(spec)
    named = [term for term in terms if term.get("name") and "labelSelector" not in term]
    return not terms or len(named) == 1


def _single_namespace_when_accessible(spec: Any) -> bool:
    # By kind alone, as the message of the rule says; the rules for the scope compare the group too.
    namespaces = [term for term in spec["resourceSelectors"] if term["kind"] == "Namespace"]
    return spec["statusReportingScope"] != "NamespaceAccessible" or len(namespaces) == 1


def _has_task(tasks: Any, task_type: str, *, with_wait: bool) -> bool:
    return any(task["type"] == task_type and ("waitTime" in task) == with_wait for task in tasks)


def _is_amount(value: Any) -> bool:
    return bool(re.fullmatch(_PERCENT, value)) if isinstance(value, str) else bool(value >= 0)


def _short_name(limit: int) -> ValueRule:
    return rule(
        f"metadata.name max length is {limit}",
        lambda it: len(it["metadata"].get("name", "")) <= limit,
        "write a shorter name",
    )


def _no_way(before: str, after: str, do: str) -> ValueRule:
    return transition(
        f"invalid state transition: cannot transition from {before} to {after}",
        lambda it, old: (old.get("state"), it["state"]) != (before, after),
        do,
        compares=("state",),
    )


_PLACEMENT = (
    transition(
        "policy cannot be removed once set",
        lambda it, old: "policy" in it or "policy" not in old,
        "keep the policy; write policy: {placementType: PickAll} where it was PickAll",
        compares=("policy.placementType",),  # which every policy has
    ),
    rule(
        "when statusReportingScope is NamespaceAccessible, exactly one resourceSelector with kind"
        " 'Namespace' is required",
        _single_namespace_when_accessible,
        "select one namespace, or write statusReportingScope: ClusterScopeOnly",
    ),
)

_SINGLE_SELECTOR_RULES = (
    rule(
        "only one namespace selector with NamespaceWithResourceSelectors mode is allowed",
        lambda it: len(_single_selector(it)) <= 1,
        "one placement a namespace",
    ),
    rule(
        "namespace selector with NamespaceWithResourceSelectors mode must select by name (not by"
        " label)",
        _by_name,
        "write name: my-namespace instead of the labelSelector",
    ),
    rule(
        "when using NamespaceWithResourceSelectors mode, only one namespace selector is allowed "
        "(cannot mix with other namespace selectors)",
        lambda it: not _single_selector(it) or len(_namespaces(it)) == 1,
        "move the other namespaces to a placement of their own",
    ),
)

_BY_SCHEMA = (
    rule(
        "name and labelSelector are mutually exclusive in a resource selector",
        lambda terms: not any(term.get("name") and "labelSelector" in term for term in terms),
        "keep one of the two; two selectors select by both ways",
    ),
    rule(
        "affinity, numberOfClusters, topologySpreadConstraints, and tolerations cannot be set when "
        "placementType is PickFixed",
        lambda it: (
            it["placementType"] != "PickFixed"
            or _has_none(
                it, "affinity", "numberOfClusters", "topologySpreadConstraints", "tolerations"
            )
        ),
        "keep clusterNames alone, or write placementType: PickN",
    ),
    rule(
        "clusterNames, numberOfClusters, and topologySpreadConstraints cannot be set when"
        " placementType is PickAll",
        lambda it: (
            it["placementType"] != "PickAll"
            or _has_none(it, "clusterNames", "numberOfClusters", "topologySpreadConstraints")
        ),
        "write placementType: PickFixed for clusterNames, PickN for the other two",
    ),
    rule(
        "clusterNames cannot be set and numberOfClusters must be set when placementType is PickN",
        lambda it: (
            it["placementType"] != "PickN"
            or ("clusterNames" not in it and "numberOfClusters" in it)
        ),
        "write, for example, numberOfClusters: 3 beside placementType: PickN, and no clusterNames",
    ),
    rule(
        "value must be empty when operator is Exists",
        lambda it: not any(each["operator"] == "Exists" and each.get("value") for each in it),
        "remove the value, or write operator: Equal",
    ),
    rule(
        "operator must be Exists when key is empty",
        lambda it: all(each.get("key") or each["operator"] == "Exists" for each in it),
        "name the key of the taint, or write operator: Exists to tolerate all taints",
    ),
)

_STRATEGY = (
    transition(
        "cannot change rollout strategy type from 'External' to other types",
        lambda it, old: it == "External" or old != "External",
        "write type: External; only a new placement can be of another type",
    ),
    rule(
        "when reportBackStrategy.type is 'Mirror', a destination must be specified",
        lambda it: it["type"] != "Mirror" or len(it["destination"]) != 0,
        "add destination: OriginalResource",
    ),
)

_OVERRIDE = (
    rule(
        "clusterResourceOverride placement reference cannot be Namespaced scope",
        lambda it: it["spec"].get("placement", {}).get("scope") != "Namespaced",
        "write scope: Cluster, or use a ResourceOverride",
    ),
)

_DISRUPTION = (
    rule(
        f"If supplied value is String should match regex '{_PERCENT}' or If supplied value is"
        " Integer must be greater than or equal to 0",
        _is_amount,
        'write a number such as 1, or a percentage such as "25%"',
    ),
    rule(
        "Both MaxUnavailable and MinAvailable cannot be specified",
        lambda it: not ("maxUnavailable" in it and "minAvailable" in it),
        "keep one of the two",
    ),
)

_STAGED = (
    rule(
        "AfterStageTaskType is Approval, waitTime is not allowed",
        lambda it: not _has_task(it, "Approval", with_wait=True),
        _WAIT,
    ),
    rule(
        "AfterStageTaskType is TimedWait, waitTime is required",
        lambda it: not _has_task(it, "TimedWait", with_wait=False),
        _WAIT,
    ),
    rule(
        "BeforeStageTaskType cannot be TimedWait",
        lambda it: all(task["type"] != "TimedWait" for task in it),
        "write type: Approval, or wait after the stage before",
    ),
    rule(
        "maxConcurrency must be at least 1",
        lambda it: not isinstance(it, int) or it >= 1,
        "write maxConcurrency: 1",
    ),
    _no_way("Initialize", "Stop", "delete the run; it has not started"),
    _no_way("Run", "Initialize", "write state: Stop, or create a run of another name"),
    _no_way("Stop", "Initialize", "write state: Run, or create a run of another name"),
)

_ALL = (
    *_PLACEMENT,
    *_SINGLE_SELECTOR_RULES,
    *_BY_SCHEMA,
    *_STRATEGY,
    *_OVERRIDE,
    *_DISRUPTION,
    *_STAGED,
    _short_name(63),
    _short_name(127),
)
RULES = {each.message: each for each in _ALL}
"""Rules by message."""
SINGLE_SELECTOR_RULES = tuple(each.message for each in _SINGLE_SELECTOR_RULES)
"""Messages of the rules for ``selectionScope: NamespaceWithResourceSelectors``."""
SCHEMA_RULES = tuple(each.message for each in _BY_SCHEMA)
"""Messages of the rules about the policy and the selectors of a placement."""

_RUN = "create a run of another name"
_EVICTION = "create an eviction of another name"
HINTS = {
    "placement type is immutable": "delete the placement and create it with the new type",
    "statusReportingScope is immutable": (
        "keep the old value, or create a placement of another name"
    ),
    "The placement field is immutable": "delete the override and create it anew",
    "The PlacementName field is immutable": _EVICTION,
    "The ClusterName field is immutable": _EVICTION,
    "The spec field is immutable": "create one of another name",
    "placementName is immutable": _RUN,
    "stagedRolloutStrategyName is immutable": _RUN,
    "resourceSnapshotIndex is immutable": _RUN,
}
"""Hints for changed immutable values, by message."""
