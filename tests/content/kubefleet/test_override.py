"""Overriding as a whole: what is in force on which member, in which order, and what a failing rule does."""

from __future__ import annotations

import json
from collections.abc import Iterable
from copy import deepcopy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet_components.admission import admit
from fleet_components.content.load import load_text
from fleet_components.content.overridden import Overridden
from fleet_components.model.cluster import Cluster
from fleet_components.model.manifest import Manifest
from fleet_components.model.problem import show_path
from fleet_components.systems.kubefleet.content.override import (
    OverrideInForce,
    apply_overrides,
    in_force,
    read_in_force,
    write_in_force,
)
from fleet_components.systems.kubefleet.model.override import ResourceOverride

_EAST = Cluster("east", labels={"env": "prod", "zone": "z1"})
_WEST = Cluster("west", labels={"env": "test"})
_SPACE: dict[str, Any] = {
    "apiVersion": "v1",
    "kind": "Namespace",
    "metadata": {"name": "shop", "labels": {"a": "1"}},
}
_WEB: dict[str, Any] = {
    "apiVersion": "apps/v1",
    "kind": "Deployment",
    "metadata": {"name": "web", "namespace": "shop", "labels": {"a": "1"}},
    "spec": {
        "replicas": 1,
        "template": {"spec": {"containers": [{"name": "web", "image": "nginx:1"}]}},
    },
}
_ROLE: dict[str, Any] = {
    "apiVersion": "rbac.authorization.k8s.io/v1",
    "kind": "ClusterRole",
    "metadata": {"name": "reader", "labels": {"a": "1"}},
}
_SECRET: dict[str, Any] = {
    "apiVersion": "v1",
    "kind": "Secret",
    "metadata": {"name": "key", "namespace": "shop", "labels": {"a": "1"}},
    "stringData": {"pin": "hunter2"},
}
_ALL = (_SPACE, _WEB, _ROLE, _SECRET)


def _patch(path: str, value: Any = None, op: str = "add", **rule: Any) -> dict[str, Any]:
    """A rule for all members, if nothing else is said, with one operation."""
    patches = [{"op": op, "path": path, **({} if op == "remove" else {"value": value})}]
    return {"clusterSelector": {"clusterSelectorTerms": []}, "jsonPatchOverrides": patches, **rule}


def _delete(**rule: Any) -> dict[str, Any]:
    return {"clusterSelector": {"clusterSelectorTerms": []}, "overrideType": "Delete", **rule}


def _on(*terms: Any) -> dict[str, Any]:
    return {
        "clusterSelector": {"clusterSelectorTerms": [{"labelSelector": term} for term in terms]}
    }


def _ref(data: dict[str, Any]) -> dict[str, Any]:
    group, _, version = data["apiVersion"].rpartition("/")
    return {
        "group": group,
        "version": version,
        "kind": data["kind"],
        "name": data["metadata"]["name"],
    }


def _override(
    name: str, of: dict[str, Any], *rules: dict[str, Any], version: str = "v1", **spec: Any
) -> ResourceOverride:
    """A ClusterResourceOverride of a cluster-scoped object, or a ResourceOverride of another, once admitted."""
    namespace = spec.pop("namespace", of["metadata"].get("namespace"))
    kind, field = ("ResourceOverride", "resourceSelectors") if namespace else _CLUSTER_WIDE
    metadata = {"name": name, **({"namespace": namespace} if namespace else {})}
    spec = {field: [_ref(of)], "policy": {"overrideRules": list(rules)}, **spec}
    data = {
        "apiVersion": f"placement.kubernetes-fleet.io/{version}",
        "kind": kind,
        "metadata": metadata,
        "spec": spec,
    }
    admission = admit(Manifest(data))
    assert not admission.refusals
    return ResourceOverride.from_manifest(admission.defaulted)


_CLUSTER_WIDE = ("ClusterResourceOverride", "clusterResourceSelectors")


def _parts(
    overrides: Iterable[ResourceOverride],
    objects: Iterable[Any] = _ALL,
    cluster: Cluster = _EAST,
    placement: str = "p",
) -> tuple[OverrideInForce, ...]:
    return in_force(objects, cluster, overrides, placement)


def _done(
    data: Any,
    *overrides: ResourceOverride,
    cluster: Cluster = _EAST,
    objects: Iterable[Any] = _ALL,
    placement: str = "p",
) -> Overridden:
    """The outcome for one object of a placement."""
    return apply_overrides([data], _parts(overrides, objects, cluster, placement), cluster.name)[0]


def _labels(done: Overridden) -> dict[str, Any]:
    assert done.data is not None, done.problem
    labels: dict[str, Any] = done.data["metadata"]["labels"]
    return labels


# Which object, in which order


def test_the_override_of_an_object_has_the_last_word_over_those_of_its_namespace() -> None:
    done = _done(
        _WEB,
        _override("a", _WEB, _patch("/metadata/labels/by", "a")),
        _override(
            "b", _WEB, _patch("/metadata/labels/by", "b"), _patch("/metadata/labels/last", "b")
        ),
        _override("z", _SPACE, _patch("/metadata/labels/by", "z")),
    )
    assert _labels(done) == {"a": "1", "by": "b", "last": "b"}
    told = [(it.override, it.rule, *map(show_path, it.fields)) for it in done.steps]
    assert told == [
        ("ClusterResourceOverride z", 0, "metadata.labels.by"),
        ("ResourceOverride shop/a", 0, "metadata.labels.by"),
        ("ResourceOverride shop/b", 0, "metadata.labels.by"),
        ("ResourceOverride shop/b", 1, "metadata.labels.last"),
    ]


def test_an_override_of_a_namespace_reaches_each_object_in_it_and_no_other() -> None:
    parts = _parts([_override("c", _SPACE, _patch("/metadata/labels/by", "c"))])
    elsewhere = {**_WEB, "metadata": {**_WEB["metadata"], "namespace": "other"}}
    done = apply_overrides([*_ALL, elsewhere], parts, "east")
    assert [_labels(it).get("by") for it in done] == ["c", "c", None, "c", None]


@pytest.mark.parametrize(
    "override",
    [
        pytest.param(
            _override("c", _ROLE, _patch("/x", 1), clusterResourceSelectors=[_ref(_WEB)]),
            id="cluster-wide",
        ),
        pytest.param(_override("r", _ROLE, _patch("/x", 1), namespace="shop"), id="namespaced"),
        pytest.param(
            _override("r", _WEB, _patch("/x", 1), namespace="other"), id="another namespace"
        ),
        pytest.param(
            _override("r", {**_WEB, "apiVersion": "apps/v1beta2"}, _patch("/x", 1)),
            id="another version",
        ),
        pytest.param(_override("r", {**_WEB, "kind": "Job"}, _patch("/x", 1)), id="another kind"),
    ],
)
def test_an_override_that_names_an_object_in_another_way_does_not_reach_it(
    override: ResourceOverride,
) -> None:
    assert _parts([override]) == ()


@pytest.mark.parametrize(
    ("ref", "reached"),
    [
        (None, {"p", "q", "shop/p", "other/p"}),
        ({"name": "p"}, {"p"}),
        ({"name": "p", "scope": "Namespaced"}, {"shop/p"}),
        ({"name": "x"}, set()),
    ],
)
def test_an_override_may_be_for_one_placement(ref: Any, reached: set[str]) -> None:
    override = _override(
        "r", _WEB, _patch("/spec/replicas", 2), **({"placement": ref} if ref else {})
    )
    assert {
        key for key in ("p", "q", "shop/p", "other/p") if _parts([override], placement=key)
    } == reached


# Which member


@pytest.mark.parametrize(
    ("selector", "east", "west"),
    [
        ({"clusterSelector": None}, False, False),
        (_on(), True, True),
        (_on({}), True, True),
        (_on({"matchLabels": {"env": "prod"}}), True, False),
        (_on({"matchLabels": {"env": "prod", "zone": "z2"}}), False, False),
        (_on({"matchLabels": {"zone": "z2"}}, {"matchLabels": {"env": "test"}}), False, True),
        (_on({"matchExpressions": [{"key": "zone", "operator": "DoesNotExist"}]}), False, True),
        (
            _on({"matchExpressions": [{"key": "zone", "operator": "NotIn", "values": ["z1"]}]}),
            False,
            True,
        ),
    ],
)
def test_a_rule_selects_members_by_any_of_its_terms(selector: Any, east: bool, west: bool) -> None:
    rule = {
        key: value
        for key, value in _patch("/spec/replicas", 2, **selector).items()
        if value is not None
    }
    override = _override("r", _WEB, rule)
    assert (bool(_parts([override])), bool(_parts([override], cluster=_WEST))) == (east, west)


def test_what_is_in_force_holds_what_has_an_effect_and_nothing_else() -> None:
    rules = (
        _patch("/spec/replicas", 2, **_on({"matchLabels": {"env": "test"}})),
        _patch("/spec/at", "${MEMBER-CLUSTER-LABEL-KEY-zone}/${MEMBER-CLUSTER-NAME}"),
        _delete(),
        _patch("/spec/never", 1),
    )
    other = {"group": "", "version": "v1", "kind": "ConfigMap", "name": "none"}
    written = _override(
        "r", _WEB, *rules, version="v1alpha1", resourceSelectors=[other, _ref(_WEB)]
    )
    expected = {
        "kind": "ResourceOverride",
        "name": "r",
        "namespace": "shop",
        "targets": [
            {
                "group": "apps",
                "version": "v1",
                "kind": "Deployment",
                "name": "web",
                "namespace": "shop",
            }
        ],
        "rules": [
            {
                "index": 1,
                "jsonPatchOverrides": [{"op": "add", "path": "/spec/at", "value": "z1/east"}],
            },
            {"index": 2, "deletes": True},
        ],
    }
    (part,) = _parts([written])
    assert json.loads(json.dumps(write_in_force(part))) == expected
    assert read_in_force(expected) == part


# Rules


def test_a_deletion_ends_the_rules_of_its_override_and_no_other_one_brings_the_object_back() -> (
    None
):
    done = _done(
        _WEB,
        _override(
            "c", _SPACE, _patch("/metadata/labels/x", "1"), _delete(), _patch("/nowhere/else", 1)
        ),
        _override("r", _WEB, _patch("/spec/nothing/there", 2, "replace"), _delete()),
    )
    assert (done.data, done.problem) == (None, None)
    assert [(it.rule, it.fields) for it in done.steps] == [
        (0, (("metadata", "labels", "x"),)),
        (1, ((),)),
    ]


def test_a_variable_fails_even_where_the_object_is_deleted() -> None:
    missing = _patch("/spec/at", "${MEMBER-CLUSTER-LABEL-KEY-rack}")
    done = _done(_WEB, _override("c", _SPACE, _delete()), _override("r", _WEB, missing))
    assert done.logged == "label key rack not found on cluster east"


@pytest.mark.parametrize(
    ("value", "made"),
    [
        ("${MEMBER-CLUSTER-NAME}-${MEMBER-CLUSTER-NAME}", "east-east"),
        (["${MEMBER-CLUSTER-NAME}", 1, None], ["east", 1, None]),
        (
            {"${MEMBER-CLUSTER-NAME}": {"${MEMBER-CLUSTER-LABEL-KEY-env}": 1.5}},
            {"east": {"prod": 1.5}},
        ),
        ("${MEMBER-CLUSTER-NAME", "${MEMBER-CLUSTER-NAME"),
        ("${member-cluster-name}", "${member-cluster-name}"),
        ("${MEMBER-CLUSTER-KIND}", "${MEMBER-CLUSTER-KIND}"),
        (
            "${MEMBER-CLUSTER-LABEL-KEY-${MEMBER-CLUSTER-NAME}}",
            "label key east not found on cluster east",
        ),
        ("${MEMBER-CLUSTER-LABEL-KEY-}", "label key  not found on cluster east"),
        (
            "${MEMBER-CLUSTER-LABEL-KEY-env} ${MEMBER-CLUSTER-LABEL-KEY-env",
            'input "${MEMBER-CLUSTER-LABEL-KEY-env} ${MEMBER-CLUSTER-LABEL-KEY-env" is missing the closing bracket `}`',
        ),
        (
            {"a": "${MEMBER-CLUSTER-LABEL-KEY-env", "b": 1},
            'label key env","b":1 not found on cluster east',
        ),
    ],
)
def test_variables(value: Any, made: Any) -> None:
    done = _done(_WEB, _override("r", _WEB, _patch("/spec/at", value)))
    assert (done.data["spec"]["at"] if done.data else done.logged) == made


def test_variables_stand_in_values_only() -> None:
    done = _done(_WEB, _override("r", _WEB, _patch("/metadata/labels/${MEMBER-CLUSTER-NAME}", "x")))
    assert _labels(done) == {"a": "1", "${MEMBER-CLUSTER-NAME}": "x"}


def test_a_rule_that_makes_no_object_fails() -> None:
    done = _done(_WEB, _override("r", _WEB, _patch("/metadata/labels", ["a"])))
    assert "makes an object that no member takes: metadata.labels: labels must be a map" in str(
        done.problem
    )


def test_an_added_null_in_the_labels_is_empty_text() -> None:
    assert _labels(_done(_WEB, _override("r", _WEB, _patch("/metadata/labels/x")))) == {
        "a": "1",
        "x": "",
    }


# Failures

_FAILING = """\
apiVersion: placement.kubernetes-fleet.io/v1beta1
kind: ClusterResourceOverride
metadata: {name: tune}
spec:
  clusterResourceSelectors: [{group: "", version: v1, kind: Namespace, name: shop}]
  policy:
    overrideRules:
    - clusterSelector: {clusterSelectorTerms: []}
      jsonPatchOverrides: [{op: add, path: /metadata/labels/by, value: tune}]
    - clusterSelector: {clusterSelectorTerms: [{labelSelector: {matchLabels: {env: prod}}}]}
      jsonPatchOverrides:
      - {op: add, path: /metadata/labels/more, value: tune}
      - {op: remove, path: /spec/replicas}
"""


def test_a_failing_rule_names_member_object_rule_and_path() -> None:
    override = ResourceOverride.from_manifest(admit(load_text(_FAILING, "tune.yaml")[0]).defaulted)
    space, web = apply_overrides([_SPACE, _WEB], in_force(_ALL, _EAST, [override], "p"), "east")
    assert (space.data, space.steps, web.problem) == (None, (), None)
    assert space.problem
    assert str(override.manifest.located(space.problem)) == (
        "tune.yaml:13: ClusterResourceOverride tune: spec.policy.overrideRules[1].jsonPatchOverrides[1]: "
        "fails on east for Namespace shop: "
        'remove operation does not apply: doc is missing path: "/spec/replicas": missing value '
        "(change the rule, or leave east out of its clusterSelector)"
    )
    on_west = apply_overrides(_ALL, in_force(_ALL, _WEST, [override], "p"), "west")
    assert [it.problem for it in on_west] == [None] * len(_ALL)


@pytest.mark.parametrize(
    "value",
    [
        "hunter2 ${MEMBER-CLUSTER-LABEL-KEY-",
        {"pin": "${MEMBER-CLUSTER-LABEL-KEY-env", "next": "hunter2"},
        ["${MEMBER-CLUSTER-LABEL-KEY-hunter", "hunter2 }"],
        {"${MEMBER-CLUSTER-LABEL-KEY-rack}": "hunter2"},
    ],
)
def test_no_problem_shows_a_value(value: Any) -> None:
    done = _done(_SECRET, _override("r", _SECRET, _patch("/stringData", value)))
    assert done.problem
    assert "hunter2" not in str(done.problem)
    assert "hunter2" not in repr(done)


def test_no_override_takes_the_mark_off_a_secret_inside() -> None:
    template = {**_WEB, "kind": "Farm", "spec": {"template": _SECRET}}
    done = _done(
        template,
        _override("r", template, _patch("/spec/template/kind", "Pod", "replace")),
        objects=[template],
    )
    assert "makes public what was secret" in str(done.problem)


# Properties

_PATHS = st.sampled_from(
    ["/metadata/labels/x", "/metadata/labels/y", "/metadata/annotations", "/spec/replicas"]
)
_VALUES = st.sampled_from(["1", "${MEMBER-CLUSTER-NAME}", "${MEMBER-CLUSTER-LABEL-KEY-zone}"])
_MEMBERS = st.sampled_from(
    [_on(), _on({"matchLabels": {"env": "prod"}}), _on({"matchLabels": {"env": "test"}})]
)
_RULES = st.one_of(
    st.builds(
        lambda path, value, op, on: _patch(path, value, op, **on),
        _PATHS,
        _VALUES,
        st.just("add"),
        _MEMBERS,
    ),
    st.builds(lambda path, on: _patch(path, None, "remove", **on), _PATHS, _MEMBERS),
    st.builds(lambda on: _delete(**on), _MEMBERS),
)
_OVERRIDES = st.lists(
    st.tuples(st.sampled_from(_ALL), st.lists(_RULES, min_size=1, max_size=3)), max_size=5
).map(
    lambda drawn: [_override(f"o{number}", of, *rules) for number, (of, rules) in enumerate(drawn)]
)


@given(overrides=_OVERRIDES, cluster=st.sampled_from([_EAST, _WEST]), data=st.data())
def test_the_order_of_the_input_has_no_effect_and_nothing_is_changed_in_place(
    overrides: list[ResourceOverride], cluster: Cluster, data: st.DataObject
) -> None:
    before = deepcopy(_ALL)
    parts = _parts(overrides, cluster=cluster)
    kept = deepcopy(parts)
    assert (
        _parts(data.draw(st.permutations(overrides)), data.draw(st.permutations(_ALL)), cluster)
        == parts
    )
    read = [read_in_force(json.loads(json.dumps(write_in_force(part)))) for part in parts]
    assert [apply_overrides([item], parts, "m")[0] for item in _ALL] == apply_overrides(
        _ALL, read, "m"
    )
    assert (before, kept) == (_ALL, parts)


@given(overrides=_OVERRIDES, cluster=st.sampled_from([_EAST, _WEST]))
def test_each_changed_field_has_a_rule_and_each_rule_selects_the_member(
    overrides: list[ResourceOverride], cluster: Cluster
) -> None:
    written = {
        str(override.manifest.key): override.spec.policy.override_rules for override in overrides
    }
    for item, done in zip(
        _ALL, apply_overrides(_ALL, _parts(overrides, cluster=cluster), cluster.name), strict=True
    ):
        assert all(written[it.override][it.rule].applies_to(cluster) for it in done.steps)
        if done.problem:
            continue
        assert [item, *(it.data for it in done.steps)] == [
            *(it.before for it in done.steps),
            done.data,
        ]
        assert (done.data == item) or any(it.fields for it in done.steps)


@given(overrides=_OVERRIDES)
def test_overrides_of_other_objects_change_nothing(overrides: list[ResourceOverride]) -> None:
    other = {**_WEB, "metadata": {"name": "web", "namespace": "elsewhere"}}
    assert _done(other, *overrides, objects=[*_ALL, other]).data is other
    assert _parts(overrides, objects=[other]) == ()
