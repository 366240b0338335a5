"""Small KubeFleet fleets in which each field that is carried out matters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from tests.fields.seen import Object, Step

PLACEMENT = "placement.kubernetes-fleet.io/v1beta1"
NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)
_IDENTITY = {"kind": "ServiceAccount", "name": "agent", "namespace": "fleet-system"}
_BOTH = {
    "matchLabels": {"env": "prod"},
    "matchExpressions": [{"key": "tier", "operator": "In", "values": ["gold"]}],
}
"""Labels and expressions, each of which leaves something out."""


def member(
    name: str, status: Object | None = None, taints: Sequence[Object] = (), **labels: str
) -> Object:
    """A member; with a status where one is given."""
    return {
        "apiVersion": "cluster.kubernetes-fleet.io/v1beta1",
        "kind": "MemberCluster",
        "metadata": {"name": name, "labels": labels},
        "spec": {"identity": _IDENTITY, **({"taints": list(taints)} if taints else {})},
        **({"status": status} if status else {}),
    }


MEMBERS = [
    member("a", env="prod", tier="gold", region="west"),
    member("b", env="prod", tier="gold", region="west"),
    member("c", env="prod", tier="tin", region="east"),
    member("d", env="test", tier="gold", region="east"),
]


def namespace(name: str = "shop", **labels: str) -> Object:
    """A Namespace."""
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": labels}}


def config(name: str, value: str = "1", **labels: str) -> Object:
    """A ConfigMap of the namespace shop."""
    metadata = {"name": name, "namespace": "shop", "labels": labels}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"key": value}}


CONTENT = [
    namespace(env="prod", tier="gold"),
    namespace("other", env="prod"),
    config("app", env="prod", tier="gold"),
]
CONTENT += [config("extra", env="prod"), config("more", tier="gold")]
_SHOP = {"group": "", "version": "v1", "kind": "Namespace", "name": "shop"}
_MAPS = {"group": "", "version": "v1", "kind": "ConfigMap"}


def placed(
    policy: Object | None = None,
    strategy: Object | None = None,
    *selectors: Object,
    **metadata: Any,
) -> list[Object]:
    """The same placement of both kinds, one by the other: of the namespace, and of what is in it."""
    spec: dict[str, Any] = {
        **({"policy": policy} if policy else {}),
        **({"strategy": strategy} if strategy else {}),
    }
    return [
        {
            "apiVersion": PLACEMENT,
            "kind": "ClusterResourcePlacement",
            "metadata": {"name": "shop", **metadata},
            "spec": {
                "resourceSelectors": list(selectors)
                or [{**_SHOP, "selectionScope": "NamespaceOnly"}],
                **spec,
            },
        },
        {
            "apiVersion": PLACEMENT,
            "kind": "ResourcePlacement",
            "metadata": {"name": "maps", "namespace": "shop", **metadata},
            "spec": {"resourceSelectors": [{**_MAPS, "name": "app"}], **spec},
        },
    ]


def fleet(
    policy: Object | None = None, strategy: Object | None = None, *more: Object, **metadata: Any
) -> list[Step]:
    """A new fleet with that placement."""
    return [Step(objects=[*MEMBERS, *CONTENT, *more, *placed(policy, strategy, **metadata)])]


def _selecting(*selectors: Object, kind: str = "ClusterResourcePlacement") -> list[Step]:
    found = next(item for item in placed() if item["kind"] == kind)
    changed = {**found, "spec": {"resourceSelectors": list(selectors)}}
    return [Step(objects=[*MEMBERS[:1], *CONTENT, changed])]


def _pick(number: int, **policy: Any) -> Object:
    return {"placementType": "PickN", "numberOfClusters": number, **policy}


def _required(*terms: Object) -> Object:
    required = {
        "requiredDuringSchedulingIgnoredDuringExecution": {"clusterSelectorTerms": list(terms)}
    }
    return {"placementType": "PickAll", "affinity": {"clusterAffinity": required}}


def _preferred(*terms: Object) -> Object:
    return _pick(
        2,
        affinity={
            "clusterAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": list(terms)}
        },
    )


def _owning(**properties: str) -> Object:
    return {
        "properties": {
            f"example.com/{name}": {"value": value} for name, value in properties.items()
        }
    }


def _rich(name: str, nodes: str, cpu: str, **labels: str) -> Object:
    amounts = {"capacity": {"cpu": cpu}, "allocatable": {"cpu": cpu}, "available": {"cpu": cpu}}
    return member(name, {**_owning(nodes=nodes), "resourceUsage": amounts}, (), **labels)


_OWNERS = [
    _rich("a", "3", "8", env="prod"),
    _rich("b", "5", "16", env="prod"),
    _rich("c", "7", "4", env="test"),
]


def _property(name: str, operator: str = "Ge", value: str = "5") -> Object:
    return {
        "propertySelector": {
            "matchExpressions": [{"name": name, "operator": operator, "values": [value]}]
        }
    }


def _among(members: Sequence[Object], policy: Object, **step: Any) -> list[Step]:
    return [Step(objects=[*members, *CONTENT, *placed(policy)], **step)]


def _second(
    strategy: Object, *more: Object, extra: Sequence[Object] = (), **step: Any
) -> list[Step]:
    """An update of what is there already: the content has changed, and a member has come for another one."""
    before = [*MEMBERS, *CONTENT, *extra, *placed({"placementType": "PickAll"}, strategy), *more]
    after = [_updated(item) for item in before if item["metadata"]["name"] != "d"]
    return [
        Step(objects=before, **step),
        Step(objects=[*after, member("e", env="test", tier="gold")], **step),
    ]


def _waiting() -> list[Step]:
    """An update of objects whose readiness nobody can tell, wave by wave."""
    metadata = {"name": "job", "namespace": "shop"}
    before: list[Object] = [
        *MEMBERS,
        namespace(),
        {"apiVersion": "batch/v1", "kind": "Job", "metadata": metadata, "spec": {"parallelism": 1}},
    ]
    rolling = {
        "rollingUpdate": {"maxUnavailable": 1, "maxSurge": 1, "unavailablePeriodSeconds": 30}
    }
    jobs = {"group": "batch", "version": "v1", "kind": "Job"}
    selectors = {
        "ClusterResourcePlacement": (
            {**_SHOP, "selectionScope": "NamespaceWithResourceSelectors"},
            jobs,
        ),
        "ResourcePlacement": (jobs,),
    }
    for item, names in zip(placed(None, rolling), (["a", "b"], ["c", "d"]), strict=True):
        policy = {"placementType": "PickFixed", "clusterNames": names}
        spec = {
            **item["spec"],
            "resourceSelectors": list(selectors[item["kind"]]),
            "policy": policy,
        }
        before.append({**item, "spec": spec})
    after = [
        {**item, "spec": {"parallelism": 2}} if item["kind"] == "Job" else item for item in before
    ]
    return [Step(objects=before), Step(objects=after)]


def _updated(data: Object) -> Object:
    if data["kind"] == "ConfigMap":
        return {**data, "data": {"key": "2"}}
    labels = {**data["metadata"].get("labels", {}), "new": "1"}
    return (
        {**data, "metadata": {**data["metadata"], "labels": labels}}
        if data["kind"] == "Namespace"
        else data
    )


def _stages(
    *stages: Object,
    state: str | None = "Run",
    version: str = "v1beta1",
    index: str | None = None,
    called: str = "first",
) -> list[Object]:
    """An update run with its strategy for each of the two placements."""
    found: list[Object] = []
    for prefix, place, name in (("Cluster", {}, "shop"), ("", {"namespace": "shop"}, "maps")):
        run = {"placementName": name, "stagedRolloutStrategyName": "rings"}
        run |= {} if state is None else {"state": state}
        run |= {} if index is None else {"resourceSnapshotIndex": index}
        for kind, item, spec in (
            ("Strategy", "rings", {"stages": list(stages)}),
            ("Run", called, run),
        ):
            found.append(
                {
                    "apiVersion": f"placement.kubernetes-fleet.io/{version}",
                    "kind": f"{prefix}StagedUpdate{kind}",
                    "metadata": {"name": item, **place},
                    "spec": spec,
                }
            )
    return found


def _moving() -> list[Step]:
    """The members that are named change, and none may be missing meanwhile."""
    rolling = {"rollingUpdate": {"maxUnavailable": 0, "maxSurge": 1}}
    before, after = (
        [
            *MEMBERS,
            *CONTENT,
            *placed({"placementType": "PickFixed", "clusterNames": names}, rolling),
        ]
        for names in (["a", "b"], ["c", "d"])
    )
    return [Step(objects=before), Step(objects=after)]


def _evicting(policy: Object, **budget: Any) -> list[Step]:
    """Two members are evicted that a taint keeps the placement away from."""
    before = [*MEMBERS, *CONTENT, *placed(policy)]
    taints = [{"key": "drained", "effect": "NoSchedule"}]
    after = [
        {**item, "spec": {**item["spec"], "taints": taints}} if item in MEMBERS[:2] else item
        for item in before
    ]
    after += [
        _disrupting("Eviction", f"leave-{name}", placementName="shop", clusterName=name)
        for name in "ab"
    ]
    after += [_disrupting("DisruptionBudget", "shop", **budget)] if budget else []
    return [Step(objects=before), Step(objects=after)]


def _disrupting(kind: str, name: str, **spec: Any) -> Object:
    metadata = {"name": name}
    return {
        "apiVersion": PLACEMENT,
        "kind": f"ClusterResourcePlacement{kind}",
        "metadata": metadata,
        "spec": spec,
    }


def _defined(kind: str, group: str, scope: str) -> Object:
    """A kind of a group of its own."""
    versions = [{"name": version, "served": True} for version in ("v1", "v1beta1")]
    plural = f"{kind.lower()}s"
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.{group}"},
        "spec": {
            "group": group,
            "names": {"kind": kind, "plural": plural},
            "scope": scope,
            "versions": versions,
        },
    }


def _custom() -> list[Step]:
    """Kinds of one name in two groups, served in two versions."""
    objects: list[Object] = [MEMBERS[0], namespace()]
    selected = {
        "ClusterResourcePlacement": ("Widget", "Cluster", {}),
        "ResourcePlacement": ("Gadget", "Namespaced", {"namespace": "shop"}),
    }
    for item in placed():
        kind, scope, place = selected[item["kind"]]
        for group in ("example.com", "example.org"):
            objects.append(_defined(kind, group, scope))
            objects.append(
                {"apiVersion": f"{group}/v1", "kind": kind, "metadata": {"name": "one", **place}}
            )
        selector = {"group": "example.com", "version": "v1", "kind": kind}
        objects.append({**item, "spec": {"resourceSelectors": [selector]}})
    return [Step(objects=objects)]


_EXTERNAL = {"type": "External"}
_CANARY = {"name": "canary", "labelSelector": {"matchLabels": {"env": "test"}}}
_REST = {
    "name": "rest",
    "labelSelector": {"matchExpressions": [{"key": "env", "operator": "In", "values": ["prod"]}]},
}
_ORDERED = [
    member(name, order=order, ring="1", env=env)
    for name, order, env in (("a", "3", "x"), ("b", "1", "x"), ("c", "2", "x"))
]


def _staged(*stages: Object, members: Sequence[Object] = MEMBERS, **run: Any) -> list[Step]:
    return [
        Step(
            objects=[*members, *CONTENT, *placed(None, _EXTERNAL), *_stages(*stages, **run)],
            as_of=NOON,
        )
    ]


def _approved() -> list[Step]:
    """An approval is asked for, and given by an object of the source."""
    (step,) = _staged({**_CANARY, "afterStageTasks": [{"type": "Approval"}]}, _REST)
    given = [
        {
            "apiVersion": PLACEMENT,
            "kind": f"{prefix}ApprovalRequest",
            "metadata": {"name": "first-after-canary", **place},
            "spec": {"parentStageRollout": "first", "targetStage": "canary"},
            "status": {"conditions": [_condition("Approved")]},
        }
        for prefix, place in (("Cluster", {}), ("", {"namespace": "shop"}))
    ]
    return [Step(objects=[*step.objects, *given], as_of=NOON)]


def _rolled_back() -> list[Step]:
    """Three revisions one after the other, all of which are kept, then a run that goes back to the first."""
    first, steps, written = [*MEMBERS, *CONTENT], list[Step](), list[Object]()
    second = list(map(_updated, first))
    third = [
        *MEMBERS,
        namespace(env="prod", tier="gold", new="2"),
        *CONTENT[1:2],
        config("app", "3"),
    ]
    kept = [
        {**item, "spec": {**item["spec"], "revisionHistoryLimit": 3}}
        for item in placed(None, _EXTERNAL)
    ]
    for index, content in (("0", first), ("1", second), ("2", third), ("0", third)):
        runs = _stages(_CANARY, _REST, index=index, called=f"run-{len(steps)}")
        written = [*(item for item in written if item["kind"].endswith("Run")), *runs]
        steps.append(Step(objects=[*content, *kept, *written], as_of=NOON))
    return steps


def _condition(kind: str, status: str = "True", since: str = "2026-11-20T11:58:00Z") -> Object:
    return {"type": kind, "status": status, "reason": "Seen", "lastTransitionTime": since}


def _observed(
    *conditions: Object, heartbeat: str = "2026-11-20T11:59:00Z", **status: Any
) -> Object:
    agent = {
        "type": "MemberAgent",
        "conditions": list(conditions),
        "lastReceivedHeartbeat": heartbeat,
    }
    return {"agentStatus": [agent], **status}


_WELL = (_condition("Joined"), _condition("Healthy"))
_SICK = (_condition("Joined"), _condition("Healthy", "False"))


def _envelope(kind: str, place: Mapping[str, Any], **data: Object) -> Object:
    return {
        "apiVersion": PLACEMENT,
        "kind": kind,
        "metadata": {"name": "wrapped", **place},
        "data": data,
    }


_ROLE = {
    "apiVersion": "rbac.authorization.k8s.io/v1",
    "kind": "ClusterRole",
    "metadata": {"name": "reader"},
    "rules": [],
}
_QUOTA = {
    "apiVersion": "v1",
    "kind": "ResourceQuota",
    "metadata": {"name": "q", "namespace": "shop"},
    "spec": {},
}
_ENVELOPES = [
    _envelope("ClusterResourceEnvelope", {"labels": {"env": "prod"}}, **{"role.yaml": _ROLE}),
    _envelope(
        "ResourceEnvelope",
        {"namespace": "shop", "labels": {"env": "prod"}},
        **{"quota.yaml": _QUOTA},
    ),
]


def _wrapped(by: Object) -> list[Step]:
    """Envelopes, selected in some way."""
    selector = {"group": "placement.kubernetes-fleet.io", "version": "v1beta1", **by}
    kinds = ("ClusterResourceEnvelope", "ResourceEnvelope")
    both = zip(placed(), kinds, strict=True)
    selecting = (
        {**item, "spec": {"resourceSelectors": [{**selector, "kind": kind}]}} for item, kind in both
    )
    return [Step(objects=[*MEMBERS[:1], *CONTENT, *_ENVELOPES, *selecting])]


def _overriding(*rules: Object, place: Object | None = None) -> list[Step]:
    """Overrides of both kinds: of a cluster-scoped object of the one placement, and of an object of the other."""
    app = {**_MAPS, "name": "app"}
    selecting: list[tuple[str, Object, Object, str, Object]] = [
        ("ClusterResourceOverride", {}, {"clusterResourceSelectors": [_SHOP]}, "shop", {}),
        (
            "ResourceOverride",
            {"namespace": "shop"},
            {"resourceSelectors": [app]},
            "maps",
            place or {},
        ),
    ]
    overrides = [
        {
            "apiVersion": PLACEMENT,
            "kind": kind,
            "metadata": {"name": "change", **where},
            "spec": {
                **selected,
                "policy": {"overrideRules": list(rules)},
                **({} if place is None else {"placement": {"name": name, **more}}),
            },
        }
        for kind, where, selected, name, more in selecting
    ]
    return [Step(objects=[*MEMBERS, *CONTENT, *overrides, *placed()])]


def _patching(*operations: Object, **more: Any) -> Object:
    rule = {"clusterSelector": {"clusterSelectorTerms": [{"labelSelector": _BOTH}]}, **more}
    return {**rule, **({"jsonPatchOverrides": list(operations)} if operations else {})}


_LABEL = {"op": "add", "path": "/metadata/labels/env", "value": "edge"}

SITUATIONS: dict[str, list[Step]] = {
    "all": fleet(
        {"placementType": "PickAll"}, None, annotations={"fleet-components/protected": "true"}
    ),
    "applied": fleet(
        None,
        {
            "applyStrategy": {
                "type": "ServerSideApply",
                "serverSideApplyConfig": {"force": True},
                "whenToTakeOver": "IfNoDiff",
            }
        },
    ),
    "conflicting": fleet(None, {"applyStrategy": {"type": "ServerSideApply"}}),
    "abandoned": fleet(None, {"deleteStrategy": {"propagationPolicy": "Abandon"}}),
    "fixed": fleet({"placementType": "PickFixed", "clusterNames": ["a", "c"]}),
    "some": fleet(_pick(2)),
    "one of a kind": _selecting({**_SHOP, "selectionScope": "NamespaceWithResources"}),
    "by labels": _selecting(
        {"group": "", "version": "v1", "kind": "Namespace", "labelSelector": _BOTH}
    ),
    "maps by labels": _selecting({**_MAPS, "labelSelector": _BOTH}, kind="ResourcePlacement"),
    "required labels": fleet(_required({"labelSelector": _BOTH})),
    "required properties": _among(_OWNERS, _required(_property("example.com/nodes"))),
    "required capacity": _among(
        _OWNERS, _required(_property("resources.kubernetes-fleet.io/total-cpu", value="16"))
    ),
    "required room": _among(
        _OWNERS, _required(_property("resources.kubernetes-fleet.io/available-cpu", value="16"))
    ),
    "required share": _among(
        _OWNERS, _required(_property("resources.kubernetes-fleet.io/allocatable-cpu", value="16"))
    ),
    "preferred labels": fleet(_preferred({"weight": 20, "preference": {"labelSelector": _BOTH}})),
    "preferred properties": _among(
        _OWNERS,
        _preferred(
            {
                "weight": 20,
                "preference": {
                    "propertySorter": {"name": "example.com/nodes", "sortOrder": "Descending"}
                },
            }
        ),
    ),
    "spread": fleet(
        _pick(
            3,
            topologySpreadConstraints=[
                {"topologyKey": "region", "maxSkew": 1, "whenUnsatisfiable": "DoNotSchedule"}
            ],
        )
    ),
    "skewed": _among(
        [
            member(name, region=region)
            for name, region in (("a", "w"), ("b", "w"), ("c", "w"), ("d", "e"))
        ],
        _pick(4, topologySpreadConstraints=[{"topologyKey": "region", "maxSkew": 1}]),
    ),
    "tainted": _among(
        [member("a", taints=[{"key": "gpu", "value": "big", "effect": "NoSchedule"}]), member("b")],
        {
            "placementType": "PickAll",
            "tolerations": [
                {"key": "gpu", "operator": "Equal", "value": "big", "effect": "NoSchedule"}
            ],
        },
    ),
    "tainted otherwise": _among(
        [
            {
                "apiVersion": "cluster.karmada.io/v1alpha1",
                "kind": "Cluster",
                "metadata": {"name": "a"},
                "spec": {
                    "syncMode": "Push",
                    "taints": [{"key": "gpu", "value": "big", "effect": "NoExecute"}],
                },
            }
        ],
        {"placementType": "PickAll", "tolerations": [{"key": "gpu", "operator": "Exists"}]},
    ),
    "rolling": _second(
        {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 1, "maxSurge": 1}}
    ),
    "rolling without surge": _second(
        {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 4, "maxSurge": 0}}
    ),
    "rolling and waiting": _waiting(),
    "moving": _moving(),
    "evicting": _evicting({"placementType": "PickAll"}),
    "evicting within a budget": _evicting(_pick(4), maxUnavailable=1),
    "evicting from enough": _evicting(_pick(4), minAvailable=3),
    "custom kinds": _custom(),
    "external": fleet(None, _EXTERNAL),
    "staged": _staged(_CANARY, _REST),
    "staged by order": _staged(
        {"name": "all", "labelSelector": {}, "sortingLabelKey": "order", "maxConcurrency": 2},
        members=_ORDERED,
    ),
    "staged with approvals": _staged(
        {
            **_CANARY,
            "afterStageTasks": [{"type": "TimedWait", "waitTime": "1m"}, {"type": "Approval"}],
        },
        {**_REST, "beforeStageTasks": [{"type": "Approval"}]},
    ),
    "staged with a wait": _staged(
        {**_CANARY, "afterStageTasks": [{"type": "TimedWait", "waitTime": "1m"}]}, _REST
    ),
    "staged with an approval": _staged(
        {**_CANARY, "afterStageTasks": [{"type": "Approval"}]}, _REST
    ),
    "staged after an approval": _staged(
        {**_CANARY, "beforeStageTasks": [{"type": "Approval"}]}, _REST
    ),
    "staged and approved": _approved(),
    "staged and back": _rolled_back(),
    "staged at first": _staged(
        {
            **_CANARY,
            "afterStageTasks": [{"type": "TimedWait", "waitTime": "1m"}, {"type": "Approval"}],
        },
        _REST,
        state=None,
        index="",
    ),
    "observed": _among(
        [
            member("a", _observed(*_WELL)),
            member("b", _observed(*_SICK, heartbeat="2026-11-20T11:58:00Z")),
        ],
        {"placementType": "PickAll"},
        as_of=NOON,
    ),
    "with namespaces": _among(
        [
            member(
                "a",
                _observed(
                    *_WELL,
                    conditions=[_condition("NamespaceCollectionSucceeded")],
                    namespaces={"shop": ""},
                ),
            ),
            member(
                "b",
                _observed(
                    *_WELL, conditions=[_condition("NamespaceCollectionSucceeded")], namespaces={}
                ),
            ),
        ],
        {"placementType": "PickAll"},
        as_of=NOON,
    ),
    "leaving": _among(
        [
            {**member("a"), "metadata": {"name": "a", "deletionTimestamp": "2026-11-20T11:00:00Z"}},
            member("b"),
        ],
        {"placementType": "PickAll"},
    ),
    "overridden": _overriding(_patching(_LABEL)),
    "overridden, by type": _overriding(_patching(_LABEL, overrideType="JSONPatch")),
    "overridden in one placement": _overriding(_patching(_LABEL), place={"scope": "Namespaced"}),
    "overridden otherwise": _overriding(
        _patching({"op": "remove", "path": "/metadata/labels/env"})
    ),
    "deleted by an override": _overriding(_patching(overrideType="Delete")),
    "wrapped": _wrapped({"labelSelector": {"matchLabels": {"env": "prod"}}}),
    "wrapped by name": _wrapped({"name": "wrapped"}),
}

PAIRS: dict[tuple[str, str], tuple[list[Step], list[Step]]] = {
    ("StagedUpdateStrategy", "spec.stages.[].beforeStageTasks.[].type"): (
        SITUATIONS["staged after an approval"],
        SITUATIONS["staged"],
    ),
    ("StagedUpdateStrategy", "spec.stages.[].afterStageTasks.[].type"): (
        SITUATIONS["staged with an approval"],
        SITUATIONS["staged with a wait"],
    ),
    ("ResourceOverride", "spec.policy.overrideRules.[].overrideType"): (
        SITUATIONS["overridden"],
        SITUATIONS["deleted by an override"],
    ),
}
