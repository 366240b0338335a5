"""Small fleets under Karmada's policies in which each field that is carried out matters."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from tests.fields.kubefleet import config, namespace
from tests.fields.seen import Object, Step

POLICY = "policy.karmada.io/v1alpha1"
NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)
_APIS = [{"groupVersion": "apps/v1", "resources": [{"name": "deployments", "kind": "Deployment"}]}]
_BOTH = {
    "matchLabels": {"env": "prod"},
    "matchExpressions": [{"key": "tier", "operator": "In", "values": ["gold"]}],
}
_RICH = {
    "labelSelector": _BOTH,
    "fieldSelector": {
        "matchExpressions": [{"key": "region", "operator": "In", "values": ["west"]}]
    },
    "clusterNames": ["a", "b", "c", "d", "e"],
    "exclude": ["b"],
}
"""Takes a alone: each part leaves out a member that all others would take."""


def cluster(
    name: str, status: Object | None = None, labels: Object | None = None, **spec: Any
) -> Object:
    """A member; with a status where one is given."""
    return {
        "apiVersion": "cluster.karmada.io/v1alpha1",
        "kind": "Cluster",
        "metadata": {"name": name, "labels": labels or {}},
        "spec": {"syncMode": "Push", **spec},
        **({"status": {"apiEnablements": _APIS, **status}} if status is not None else {}),
    }


def _labelled(name: str, env: str, tier: str, region: str, status: Object | None = None) -> Object:
    return cluster(name, status, {"env": env, "tier": tier}, region=region)


def members(status: Object | None = None) -> list[Object]:
    """Members of which the rich affinity takes one, each of the others being left out for one reason."""
    return [
        _labelled("a", "prod", "gold", "west", status),
        _labelled("b", "prod", "gold", "west", status),
        _labelled("c", "prod", "tin", "west", status),
        _labelled("d", "test", "gold", "west", status),
        _labelled("e", "prod", "gold", "east", status),
        _labelled("f", "prod", "gold", "west", status),
    ]


def _room(pods: int) -> Object:
    return {"resourceSummary": {"allocatable": {"pods": str(pods)}}}


def deployment(
    replicas: int = 6, image: str = "registry.example.com/web:1", **labels: str
) -> Object:
    """A Deployment that names a ConfigMap."""
    needs = [{"configMapRef": {"name": "app"}}]
    container = {
        "name": "web",
        "image": image,
        "command": ["run"],
        "args": ["--fast"],
        "envFrom": needs,
    }
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {
            "name": "web",
            "namespace": "shop",
            "labels": labels,
            "annotations": {"team": "one"},
        },
        "spec": {"replicas": replicas, "template": {"spec": {"containers": [container]}}},
    }


_WEB = {"apiVersion": "apps/v1", "kind": "Deployment", "namespace": "shop", "name": "web"}
_CONTENT = [namespace(), namespace("other"), config("app"), deployment(env="prod", tier="gold")]
_MORE = [
    {**deployment(), "metadata": {"name": "more", "namespace": "shop", "labels": {"env": "prod"}}},
    {**deployment(), "metadata": {"name": "less", "namespace": "shop", "labels": {"tier": "gold"}}},
    {
        **deployment(),
        "metadata": {
            "name": "web",
            "namespace": "other",
            "labels": {"env": "prod", "tier": "gold"},
        },
    },
]
_NOWHERE = {"apiVersion": "v1", "kind": "ConfigMap", "namespace": "shop", "name": "nowhere"}


def policy(kind: str, name: str = "web", **spec: Any) -> Object:
    """A policy of either kind for the Deployment."""
    place = {} if kind.startswith("Cluster") else {"namespace": "shop"}
    return {
        "apiVersion": POLICY,
        "kind": kind,
        "metadata": {"name": name, **place},
        "spec": {"resourceSelectors": [_WEB], **spec},
    }


def settings(**spec: Any) -> Object:
    """How the control plane is set up."""
    return {
        "apiVersion": "fleet-components/v1",
        "kind": "KarmadaSettings",
        "metadata": {"name": "karmada"},
        "spec": spec,
    }


def divided(preference: str = "Weighted", **weights: Any) -> Object:
    """Replicas are divided."""
    return {
        "replicaSchedulingType": "Divided",
        "replicaDivisionPreference": preference,
        **({"weightPreference": weights} if weights else {}),
    }


def _tainted(effect: str = "NoSchedule", **more: str) -> list[Object]:
    return [
        cluster("a", taints=[{"key": "gpu", "value": "big", "effect": effect, **more}]),
        cluster("b"),
    ]


def _sick(since: str | None, *where: str) -> Object:
    seen = {"apiVersion": "apps/v1", "kind": "Deployment", "namespace": "shop", "name": "web"}
    entries = [{**seen, "cluster": name, **({"since": since} if since else {})} for name in where]
    return {
        "apiVersion": "fleet-components/v1",
        "kind": "ApplicationHealth",
        "metadata": {"name": "seen"},
        "spec": {"unhealthy": entries},
    }


def _graded(count: int) -> Object:
    models = [
        {"grade": grade, "ranges": [{"name": "cpu", "min": low, "max": high}]}
        for grade, low, high in ((0, "0", "2"), (1, "2", "8"), (2, "8", "64"))
    ]
    summary = {
        "allocatable": {"cpu": "64", "pods": "40"},
        "allocated": {"cpu": "2", "pods": "1"},
        "allocating": {"cpu": "1", "pods": "1"},
        "allocatableModelings": [{"grade": 1, "count": count}, {"grade": 2, "count": 1}],
    }
    return cluster("a", {"resourceSummary": summary}, resourceModels=models)


def _requesting(replicas: int, cpu: str) -> Object:
    web = deployment(replicas)
    container = {"name": "web", "image": "web:1", "resources": {"requests": {"cpu": cpu}}}
    return {
        **web,
        "spec": {"replicas": replicas, "template": {"spec": {"containers": [container]}}},
    }


def _new(kind: str, *more: Object, around: Sequence[Object] = (), **placement: Any) -> list[Step]:
    """A new fleet whose policy has that placement."""
    return [
        Step(objects=[*(around or members()), *_CONTENT, policy(kind, placement=placement), *more])
    ]


def _with(
    kind: str,
    *more: Object,
    around: Sequence[Object] = (),
    as_of: datetime | None = None,
    **spec: Any,
) -> list[Step]:
    """A new fleet whose policy says that, on the member a where it does not say where."""
    return [
        Step(
            objects=[*(around or members()), *_CONTENT, policy(kind, **{**_ON_A, **spec}), *more],
            as_of=as_of,
        )
    ]


_ON_A: dict[str, Any] = {"placement": {"clusterAffinity": {"clusterNames": ["a"]}}}
_ON_B: dict[str, Any] = {"placement": {"clusterAffinity": {"clusterNames": ["b"]}}}


def _overflowing(kind: str) -> list[Step]:
    group = {
        "affinityName": "first",
        "clusterNames": ["z"],
        "overflowAffinities": [{"affinityName": "more", **_RICH}],
    }
    around = [*members(_room(8)), cluster("z", _room(2))]
    return _new(
        kind, around=around, clusterAffinities=[group], replicaScheduling=divided("Aggregated")
    )


def _weighted(kind: str) -> list[Step]:
    rules = [
        {"targetCluster": _RICH, "weight": 2},
        {"targetCluster": {"clusterNames": ["f"]}, "weight": 1},
    ]
    return _new(kind, replicaScheduling=divided(staticWeightList=rules))


def _preempting(kind: str) -> list[Step]:
    """A policy comes that may take what another one has."""
    gate = settings(preemption=True)
    first = [*members(), *_CONTENT, gate, policy(kind, "first", **_ON_A)]
    return [
        Step(objects=first),
        Step(objects=[*first, policy(kind, priority=2, preemption="Always", **_ON_B)]),
    ]


def _activating(kind: str) -> list[Step]:
    """A policy comes for an object that has waited."""
    waiting = [*members(), *_CONTENT, policy(kind, "other", resourceSelectors=[_NOWHERE])]
    return [
        Step(objects=waiting),
        Step(objects=[*waiting, policy(kind, activationPreference="Lazy", **_ON_A)]),
    ]


def _failing(kind: str, mode: str, since: str | None = "2026-11-20T11:58:00Z") -> list[Step]:
    """An application that does not work on one of its members."""
    application = {"decisionConditions": {"tolerationSeconds": 100}, "purgeMode": mode}
    before = _with(
        kind,
        around=[cluster("a"), cluster("b")],
        placement={"replicaScheduling": divided()},
        propagateDeps=True,
        failover={"application": application},
        as_of=NOON,
    )[0]
    return [before, Step(objects=[*before.objects, _sick(since, "a")], as_of=NOON)]


def _late(kind: str) -> list[Step]:
    """The same, with nowhere to go: it works again, and the eviction goes on until its time is over."""
    application = {
        "decisionConditions": {"tolerationSeconds": 0},
        "purgeMode": "Gracefully",
        "gracePeriodSeconds": 30,
    }
    before = _with(
        kind,
        settings(exact=True),
        around=[cluster("a")],
        propagateDeps=True,
        failover={"application": application},
        as_of=NOON,
    )[0]
    sick = [*before.objects, _sick(None, "a")]
    return [
        before,
        Step(objects=sick, as_of=NOON + timedelta(seconds=10)),
        Step(objects=before.objects, as_of=NOON + timedelta(seconds=60)),
    ]


def _evicting(kind: str) -> list[Step]:
    """A taint drives the object from a member."""
    gate = settings(noExecuteEviction=True)
    cluster_wide = {"cluster": {"purgeMode": "Directly"}}
    steering = policy(kind, placement={"replicaScheduling": divided()}, failover=cluster_wide)
    before = [*_CONTENT, gate, steering]
    return [
        Step(objects=[cluster("a"), cluster("b"), *before], as_of=NOON),
        Step(objects=[*_tainted("NoExecute"), *before], as_of=NOON),
    ]


def _tolerating(kind: str, **toleration: Any) -> list[Step]:
    """A toleration of a taint that drives objects from a member."""
    since = _tainted("NoExecute", timeAdded="2026-11-20T11:58:00Z")
    tolerations = [
        {"key": "gpu", "operator": "Equal", "value": "big", "effect": "NoExecute", **toleration}
    ]
    gate = settings(noExecuteEviction=True)
    return _with(
        kind, gate, around=since, placement={"clusterTolerations": tolerations}, as_of=NOON
    )


def _spreading(kind: str, *constraints: Object) -> list[Step]:
    around = [
        cluster("a", provider="one", region="west", zones=["w1"]),
        cluster("b", provider="one", region="west", zones=["w2"]),
        cluster("c", provider="two", region="east", zones=["e1"]),
        cluster("d", region="east"),
        cluster("e"),
    ]
    return _new(kind, around=around, spreadConstraints=list(constraints))


def _between(field: str, least: int, most: int) -> Object:
    return {"spreadByField": field, "minGroups": least, "maxGroups": most}


def _depending(kind: str) -> list[Step]:
    override = kind.replace("PropagationPolicy", "OverridePolicy")
    return _with(kind, _override(override, {}), dependentOverrides=["change"])


_PROPAGATING: Mapping[str, Callable[[str], list[Step]]] = {
    "all": _new,
    "by labels": lambda kind: [
        Step(
            objects=[
                *members(),
                *_CONTENT,
                *_MORE,
                policy(
                    kind,
                    resourceSelectors=[
                        {key: _WEB[key] for key in ("apiVersion", "kind", "namespace")}
                        | {"labelSelector": _BOTH}
                    ],
                ),
            ]
        )
    ],
    "another namespace": lambda kind: [Step(objects=[*members(), *_CONTENT, *_MORE, policy(kind)])],
    "a namespace of its own": lambda kind: [
        Step(
            objects=[
                *members(),
                *_CONTENT,
                *_MORE,
                policy(
                    kind,
                    resourceSelectors=[{key: _WEB[key] for key in ("apiVersion", "kind", "name")}],
                ),
            ]
        )
    ],
    "affinity": lambda kind: _new(kind, clusterAffinity=_RICH),
    "affinities": lambda kind: _new(kind, clusterAffinities=[{"affinityName": "first", **_RICH}]),
    "overflow": _overflowing,
    "weights": _weighted,
    "free room": lambda kind: _new(
        kind,
        around=[cluster("a", _room(2)), cluster("b", _room(4))],
        replicaScheduling=divided(dynamicWeight="AvailableReplicas"),
    ),
    "aggregated": lambda kind: _new(
        kind,
        around=[cluster("a", _room(8)), cluster("b", _room(8))],
        replicaScheduling=divided("Aggregated"),
    ),
    "tolerations": lambda kind: _new(
        kind,
        around=_tainted(),
        clusterTolerations=[
            {"key": "gpu", "operator": "Equal", "value": "big", "effect": "NoSchedule"}
        ],
    ),
    "tolerations for a time": lambda kind: _tolerating(kind, tolerationSeconds=300),
    "some members": lambda kind: _spreading(kind, _between("cluster", 1, 2)),
    "some regions": lambda kind: _spreading(
        kind, _between("region", 1, 1), _between("cluster", 1, 2)
    ),
    "by a label": lambda kind: _spreading(
        kind, {"spreadByLabel": "tier", "minGroups": 1, "maxGroups": 2}
    ),
    "too many members": lambda kind: _spreading(kind, _between("cluster", 6, 7)),
    "with what it needs": lambda kind: _with(kind, propagateDeps=True),
    "the more important one": lambda kind: _with(kind, policy(kind, "first", **_ON_B), priority=1),
    "the first one by name": lambda kind: _with(kind, policy(kind, "n", **_ON_B)),
    "preempting": _preempting,
    "waiting for an override": _depending,
    "failing gracefully": lambda kind: _failing(kind, "Gracefully"),
    "failing directly": lambda kind: _failing(kind, "Directly"),
    "failing for a while": lambda kind: _failing(kind, "Gracefully", since="2026-11-20T11:59:00Z"),
    "failing too long": _late,
    "evicting": _evicting,
    "overwriting": lambda kind: _with(kind, conflictResolution="Overwrite"),
    "activating": _activating,
    "suspended": lambda kind: _with(kind, suspension={"dispatching": True}),
    "suspended somewhere": lambda kind: _with(
        kind, suspension={"dispatchingOnClusters": {"clusterNames": ["a"]}}
    ),
    "preserved": lambda kind: _with(kind, preserveResourcesOnDeletion=True),
}


def _override(kind: str, spec: Object, name: str = "change") -> Object:
    place = {} if kind.startswith("Cluster") else {"namespace": "shop"}
    return {"apiVersion": POLICY, "kind": kind, "metadata": {"name": name, **place}, "spec": spec}


_IMAGE = "/spec/template/spec/containers/0/image"
_OVERRIDERS: Mapping[str, Object] = {
    "plaintext": {
        "plaintext": [{"path": "/metadata/annotations/team", "operator": "replace", "value": "two"}]
    },
    "plaintext added": {
        "plaintext": [{"path": "/metadata/annotations/more", "operator": "add", "value": "two"}]
    },
    "image": {
        "imageOverrider": [
            {
                "predicate": {"path": _IMAGE},
                "component": "Tag",
                "operator": "replace",
                "value": "2",
            },
        ]
    },
    "registry": {"imageOverrider": [{"component": "Registry", "operator": "add", "value": ".eu"}]},
    "command": {
        "commandOverrider": [{"containerName": "web", "operator": "add", "value": ["--more"]}]
    },
    "args": {
        "argsOverrider": [{"containerName": "web", "operator": "remove", "value": ["--fast"]}]
    },
    "labels": {"labelsOverrider": [{"operator": "add", "value": {"env": "new"}}]},
    "annotations": {"annotationsOverrider": [{"operator": "add", "value": {"team": "new"}}]},
    "field as JSON": {
        "fieldOverrider": [
            {
                "fieldPath": "/metadata/annotations/json",
                "json": [{"subPath": "/level", "operator": "replace", "value": "debug"}],
            }
        ]
    },
    "field as YAML": {
        "fieldOverrider": [
            {
                "fieldPath": "/metadata/annotations/yaml",
                "yaml": [{"subPath": "/level", "operator": "replace", "value": "debug"}],
            }
        ]
    },
}
_OVERRIDERS = {
    **_OVERRIDERS,
    **{
        f"new field as {form.upper()}": {
            "fieldOverrider": [
                {
                    "fieldPath": f"/metadata/annotations/{form}",
                    form: [{"subPath": "/new", "operator": "add", "value": "debug"}],
                }
            ]
        }
        for form in ("json", "yaml")
    },
}
_DOCUMENTED = {
    "team": "one",
    "json": '{"level": "info", "other": 1}',
    "yaml": "level: info\nother: 1\n",
}


def _overridden(kind: str, spec: Object) -> list[Step]:
    web = deployment(env="prod", tier="gold")
    web = {**web, "metadata": {**web["metadata"], "annotations": _DOCUMENTED}}
    content = [*members(), namespace(), config("app"), web, *_MORE]
    propagated = [{"apiVersion": "apps/v1", "kind": "Deployment"}]
    taking = policy("ClusterPropagationPolicy", "everything", resourceSelectors=propagated)
    return [Step(objects=[*content, taking, _override(kind, spec)])]


def _overriding(kind: str) -> dict[str, list[Step]]:
    change = _OVERRIDERS["labels"]
    found = {
        f"{name}, {form}": _overridden(kind, {"resourceSelectors": [_WEB], **spec})
        for name, overriders in _OVERRIDERS.items()
        for form, spec in (
            ("by rules", {"overrideRules": [{"overriders": overriders}]}),
            ("in the former form", {"overriders": overriders}),
        )
    }
    by_labels = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "namespace": "shop",
        "labelSelector": _BOTH,
    }
    rules = [{"targetCluster": _RICH, "overriders": change}]
    return {
        **found,
        "by labels": _overridden(
            kind, {"resourceSelectors": [by_labels], "overrideRules": [{"overriders": change}]}
        ),
        "of some members, by rules": _overridden(
            kind, {"resourceSelectors": [_WEB], "overrideRules": rules}
        ),
        "of some members": _overridden(
            kind, {"resourceSelectors": [_WEB], "targetCluster": _RICH, "overriders": change}
        ),
    }


def _rebalancing() -> list[Step]:
    """Members have come that a divided workload does not use, until it is divided anew."""
    where = {"replicaScheduling": divided(dynamicWeight="AvailableReplicas")}
    before = [cluster("a", _room(20)), *_CONTENT, policy("PropagationPolicy", placement=where)]
    rebalancer = {
        "apiVersion": "apps.karmada.io/v1alpha1",
        "kind": "WorkloadRebalancer",
        "metadata": {"name": "now"},
        "spec": {"workloads": [_WEB]},
    }
    return [Step(objects=before), Step(objects=[*before, cluster("b", _room(20)), rebalancer])]


def _again(name: str) -> list[Step]:
    """The same, when it was divided anew once already."""
    before, after = _rebalancing()
    rebalancer = after.objects[-1]
    again = {**rebalancer, "metadata": {"name": name}}
    return [
        before,
        Step(objects=[*before.objects, rebalancer]),
        Step(objects=[*after.objects[:-1], again]),
    ]


def _of_members() -> dict[str, list[Step]]:
    kind = "PropagationPolicy"
    where = [{"key": key, "operator": "In", "values": [value]} for key, value in _PLACE.items()]
    placed = _new(
        kind,
        around=[cluster("a", provider="one", region="west", zones=["w1"]), cluster("b")],
        clusterAffinity={"fieldSelector": {"matchExpressions": where}},
    )
    zoned = _new(
        kind,
        around=[cluster("a", zone="w1"), cluster("b")],
        clusterAffinity={"fieldSelector": {"matchExpressions": where[-1:]}},
    )
    graded = [_graded(3), cluster("b", _room(4))]
    asked = [
        *graded,
        namespace(),
        _requesting(9, "3"),
        policy(kind, placement={"replicaScheduling": _BY_ROOM}),
    ]
    summed = {
        "allocatable": {"pods": "9"},
        "allocated": {"pods": "2"},
        "allocating": {"pods": "1"},
    }
    return {
        "where members are": placed,
        "where a member was": zoned,
        "grades of nodes": [Step(objects=asked)],
        "sums of members": _new(
            kind,
            around=[cluster("a", {"resourceSummary": summed}), cluster("b", _room(6))],
            replicaScheduling=_BY_ROOM,
        ),
        "leaving": _new(
            kind,
            around=[
                {
                    **cluster("a"),
                    "metadata": {"name": "a", "deletionTimestamp": "2026-11-20T11:00:00Z"},
                },
                cluster("b"),
            ],
        ),
    }


_PLACE = {"provider": "one", "region": "west", "zone": "w1"}
_BY_ROOM = divided(dynamicWeight="AvailableReplicas")
SITUATIONS: dict[str, list[Step]] = {
    **{
        f"{kind}: {name}": make(kind)
        for kind in ("PropagationPolicy", "ClusterPropagationPolicy")
        for name, make in _PROPAGATING.items()
    },
    **{
        f"{kind}: {name}": steps
        for kind in ("OverridePolicy", "ClusterOverridePolicy")
        for name, steps in _overriding(kind).items()
    },
    "rebalancing": _rebalancing(),
    **_of_members(),
}

PAIRS: dict[tuple[str, str], tuple[list[Step], list[Step]]] = {
    ("WorkloadRebalancer", "metadata.name"): (_again("now"), _again("later")),
}
