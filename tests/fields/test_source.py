"""What a whole source says of fields, kinds and objects that are not carried out: all of it, each at its place."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml

from fleet_components.model.manifest import Manifest
from fleet_components.model.problem import FleetError
from fleet_components.plan.effect import Effect
from fleet_components.plan.effects import ALL, EFFECTS
from fleet_components.plan.fleet import plan_fleet
from fleet_components.plan.given import Given
from fleet_components.plan.options import Options
from fleet_components.plan.past import Past
from fleet_components.plan.source import Source, gathered, read_source, source_of
from fleet_components.rollout.rollout import Change
from fleet_components.systems.karmada.plan.templates import templates_of
from fleet_components.systems.kubefleet.plan.planning import taken
from fleet_components.systems.kubefleet.plan.selection import Placements
from tests.fields import karmada, kubefleet
from tests.fields.seen import Object

MEMBER, *_ = kubefleet.MEMBERS


def warned(*objects: Object, hub: bool = False) -> list[str]:
    """The warnings of a fleet, or of the forecast of a hub, but for those of what matches nothing."""
    source = gathered(Given(tuple(map(Manifest, objects)), hub=hub)).sound()
    own = (
        *source.warnings,
        *templates_of(source, taken(Placements(source).selections()[0]), ()).warnings,
    )
    plan = plan_fleet(source, Past(), Options())
    return [str(warning) for warning in plan.warnings if warning in own]


def refused(*objects: Object) -> list[str]:
    """Why a fleet cannot be planned."""
    with pytest.raises(FleetError) as error:
        plan_fleet(source_of(map(Manifest, objects)), Past(), Options())
    return list(map(str, error.value.problems))


def written(folder: Path, text: str) -> Source:
    (folder / "fleet.yaml").write_text(textwrap.dedent(text))
    return read_source(folder)


PLACEMENTS = """\
apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: {name: shop, namespace: shop}
spec:
  resourceSelectors: [{apiVersion: v1, kind: ConfigMap}]
  schedulerName: another
  propagateDeps: true
  failover:
    application:
      decisionConditions: {tolerationSeconds: 5}
      statePreservation: {rules: [{aliasLabelName: a, jsonPath: "{.b}"}]}
---
apiVersion: placement.kubernetes-fleet.io/v1beta1
kind: ResourcePlacement
metadata: {name: shop, namespace: shop}
spec:
  resourceSelectors: [{group: "", version: v1, kind: ConfigMap}]
  revisionHistoryLimit: 4
  strategy: {type: RollingUpdat}
"""


def test_all_that_is_refused_is_said_at_once_with_file_line_field_and_what_to_do(
    tmp_path: Path,
) -> None:
    with pytest.raises(FleetError) as error:
        written(tmp_path, PLACEMENTS)
    file = tmp_path / "fleet.yaml"
    told = [str(problem).removeprefix(f"{file}:") for problem in error.value.problems]
    assert [line.partition(" is not")[0] for line in told[1:]] == [
        '6: PropagationPolicy shop/shop: spec.schedulerName: "another"',
        "11: PropagationPolicy shop/shop: spec.failover.application.statePreservation:",
    ]
    assert told[0].startswith(
        "19: ResourcePlacement shop/shop: spec.strategy.type: Unsupported value"
    )
    assert all(problem.hint for problem in error.value.problems)


def test_what_has_no_effect_is_one_warning_for_objects_that_are_alike(tmp_path: Path) -> None:
    members = "---\n".join(
        yaml.safe_dump({**member, "spec": {**member["spec"], "heartbeatPeriodSeconds": seconds}})
        for member, seconds in zip(kubefleet.MEMBERS, (15, 60, 30, 15), strict=True)
    )
    (warning,) = written(tmp_path, members).warnings
    assert (warning.subject, warning.path) == (
        "MemberCluster a",
        ("spec", "heartbeatPeriodSeconds"),
    )
    assert warning.what == "15 has no effect: no agent runs on a member; the same in c, d"
    assert (warning.file, warning.line) == (str(tmp_path / "fleet.yaml"), 10)


def test_defaults_that_are_written_out_ask_for_nothing() -> None:
    apply = {
        "type": "ClientSideApply",
        "comparisonOption": "PartialComparison",
        "whenToApply": "Always",
        "whenToTakeOver": "Always",
        "allowCoOwnership": False,
    }
    strategy = {
        "type": "RollingUpdate",
        "applyStrategy": apply,
        "deleteStrategy": {"propagationPolicy": "Delete"},
        "reportBackStrategy": {"type": "Disabled"},
    }
    placements = [
        {
            **item,
            "spec": {
                **item["spec"],
                "revisionHistoryLimit": 10,
                "statusReportingScope": "ClusterScopeOnly",
            },
        }
        for item in kubefleet.placed(None, strategy)
    ]
    assert warned(*kubefleet.MEMBERS, *kubefleet.CONTENT, *placements) == []


@pytest.mark.parametrize(
    "kind", sorted(kind for entry in EFFECTS if not entry.field for kind in entry.kinds)
)
def test_a_kind_that_is_refused_as_a_whole_is_refused_by_name(kind: str) -> None:
    item = {**_OF_KIND[kind], "kind": kind, "metadata": {"name": "one"}}
    assert f"{kind} is not carried out by this version" in " ".join(refused(MEMBER, item))


_FLEET = "placement.kubernetes-fleet.io/v1beta1"
_OF_KIND: Mapping[str, Object] = {
    "ClusterTaintPolicy": {
        "apiVersion": "policy.karmada.io/v1alpha1",
        "spec": {"taints": [{"key": "sick", "effect": "NoSchedule"}]},
    },
}


def test_kinds_that_are_carried_out_are_those_that_are_not_refused() -> None:
    whole = {
        kind
        for entry in EFFECTS
        if not entry.field and entry.effect is Effect.REFUSED
        for kind in entry.kinds
    }
    assert whole == set(_OF_KIND)
    assert whole.isdisjoint(ALL)


def _made(kind: str, name: str, **more: Any) -> Object:
    group = "work.karmada.io/v1alpha1" if kind == "Work" else _FLEET
    return {
        "apiVersion": group,
        "kind": kind,
        "metadata": {"name": name, "namespace": "shop"},
        "spec": {},
        **more,
    }


def test_what_hubs_made_is_counted_by_kind() -> None:
    made = [
        _made("Work", "one"),
        _made("Work", "two"),
        _made("ResourceSnapshot", "shop-0"),
        _made("ApprovalRequest", "a"),
    ]
    assert warned(MEMBER, *made) == [
        "1 ApprovalRequest object: made by a hub, passed over",
        "1 ResourceSnapshot object: made by a hub, passed over",
        "2 Work objects: made by a hub, passed over",
    ]


@pytest.mark.parametrize("kind", ["ApprovalRequest", "ClusterApprovalRequest"])
def test_an_approval_request_counts_once_it_is_approved(kind: str) -> None:
    approved = {"conditions": [{"type": "Approved", "status": "True"}]}
    waiting = {"conditions": [{"type": "Approved", "status": "False"}]}
    assert warned(MEMBER, _made(kind, "x", status=approved)) == []
    assert warned(MEMBER, _made(kind, "x", status=waiting)) == [
        f"1 {kind} object: made by a hub, passed over"
    ]


def _run(name: str, placement: str = "shop", **spec: Any) -> Object:
    given = {"placementName": placement, "stagedRolloutStrategyName": "rings", **spec}
    return {
        "apiVersion": _FLEET,
        "kind": "ClusterStagedUpdateRun",
        "metadata": {"name": name},
        "spec": given,
    }


def _staged(*runs: Object, kind: str = "External") -> Sequence[Object]:
    placement, _ = kubefleet.placed(None, {"type": kind})
    stages = {"stages": [{"name": "all", "labelSelector": {}}]}
    strategy = {
        "apiVersion": _FLEET,
        "kind": "ClusterStagedUpdateStrategy",
        "metadata": {"name": "rings"},
        "spec": stages,
    }
    return [*kubefleet.MEMBERS, *kubefleet.CONTENT, placement, strategy, *runs]


@pytest.mark.parametrize("state", [None, "Initialize", "Stop"])
def test_a_run_that_does_not_run_moves_nothing_and_says_why(state: str | None) -> None:
    objects = _staged(_run("one", **({"state": state} if state else {})))
    plan = plan_fleet(source_of(map(Manifest, objects)), Past(), Options())
    held = {(entry.change, entry.reason) for entry in plan.subjects[0].entries.values()}
    assert held == {
        (Change.HELD, f"update run one has state {state or 'Initialize'}; Run lets it go on")
    }


def test_a_priority_class_that_is_missing_is_refused_and_one_that_is_there_only_warned_of() -> None:
    def policy(name: str) -> Object:
        priority = {"priorityClassSource": "KubePriorityClass", "priorityClassName": name}
        return karmada.policy("PropagationPolicy", schedulePriority=priority)

    own = {
        "apiVersion": "scheduling.k8s.io/v1",
        "kind": "PriorityClass",
        "metadata": {"name": "high"},
        "value": 1,
    }
    content = [karmada.cluster("a"), kubefleet.namespace(), karmada.deployment()]
    (told,) = refused(*content, policy("high"))
    assert 'there is no PriorityClass "high"' in told
    for found in (
        warned(*content, policy("high"), own),
        warned(*content, policy("system-node-critical")),
    ):
        (told,) = found
        assert "spec.schedulePriority: has no effect: it orders the queue" in told


@pytest.mark.parametrize("namespace", ["kube-system", "karmada-system", "karmada-es-a"])
def test_a_policy_of_a_namespace_that_is_never_propagated_takes_nothing_and_says_so(
    namespace: str,
) -> None:
    objects = [
        karmada.policy("PropagationPolicy"),
        karmada._override("OverridePolicy", {"overrideRules": []}),
    ]
    moved = [{**data, "metadata": {**data["metadata"], "namespace": namespace}} for data in objects]
    selector = {"apiVersion": "apps/v1", "kind": "Deployment"}
    moved[0] = {**moved[0], "spec": {"resourceSelectors": [selector]}}
    told = warned(karmada.cluster("a"), kubefleet.namespace(), *moved)
    assert len(told) == 2
    assert all(
        "metadata.namespace: has no effect: Karmada propagates nothing of the namespaces" in it
        for it in told
    )


def test_a_selector_of_such_a_namespace_is_warned_of() -> None:
    selectors = [
        {"apiVersion": "v1", "kind": "ConfigMap", "namespace": name}
        for name in ("shop", "kube-public")
    ]
    policy = karmada.policy("ClusterPropagationPolicy", resourceSelectors=selectors)
    (told,) = warned(karmada.cluster("a"), kubefleet.namespace(), policy)
    assert "spec.resourceSelectors[1].namespace: has no effect" in told


def header(api_version: str, kind: str, name: str, namespace: str = "") -> Object:
    scope = {"namespace": namespace} if namespace else {}
    return {"apiVersion": api_version, "kind": kind, "metadata": {"name": name, **scope}}


@pytest.mark.parametrize(
    ("api_version", "kind"),
    [("v1", "Event"), ("events.k8s.io/v1", "Event"), ("coordination.k8s.io/v1", "Lease")],
)
def test_kinds_that_karmada_does_not_watch_are_not_placed(api_version: str, kind: str) -> None:
    selectors = [
        {"apiVersion": api_version, "kind": kind},
        {"apiVersion": "v1", "kind": "ConfigMap"},
    ]
    objects = [
        karmada.cluster("a"),
        kubefleet.namespace(),
        header(api_version, kind, "one", "shop"),
        header("v1", "ConfigMap", "two", "shop"),
        karmada.policy("ClusterPropagationPolicy", resourceSelectors=selectors),
    ]
    plan = plan_fleet(source_of(map(Manifest, objects)), Past(), Options())
    assert {subject.subject.key for subject in plan.subjects} == {
        "Namespace/shop",
        "shop/ConfigMap/two",
    }
    assert [warning.what for warning in plan.warnings if "propagates no" in warning.what] == [
        f"has no effect: Karmada propagates no {kind}"
    ]


@pytest.mark.parametrize("name", ["default", "shop"])
def test_karmada_brings_every_namespace_but_default_by_itself(name: str) -> None:
    """``namespace_sync_controller.go``; a policy may select ``default`` all the same, as any other object."""
    selector = {"apiVersion": "v1", "kind": "ConfigMap"}
    objects = [
        karmada.cluster("a"),
        header("v1", "Namespace", name),
        header("v1", "ConfigMap", "conf", name),
        karmada.policy("ClusterPropagationPolicy", resourceSelectors=[selector]),
    ]
    plan = plan_fleet(source_of(map(Manifest, objects)), Past(), Options())
    brought = {subject.subject.key for subject in plan.subjects}
    assert brought == {
        f"{name}/ConfigMap/conf",
        *(() if name == "default" else ("Namespace/shop",)),
    }
    by_name = karmada.policy(
        "ClusterPropagationPolicy",
        resourceSelectors=[selector, {"apiVersion": "v1", "kind": "Namespace", "name": name}],
    )
    plan = plan_fleet(source_of(map(Manifest, [*objects[:3], by_name])), Past(), Options())
    assert {subject.subject.key for subject in plan.subjects} == {
        f"{name}/ConfigMap/conf",
        f"Namespace/{name}",
    }


MEMBER_NAME = "kubernetes-fleet.io/member-name"


def test_a_placement_may_ask_for_the_name_of_a_member() -> None:
    """The hub writes it into the labels of each MemberCluster, so that nobody else has to."""
    by_name = {"labelSelector": {"matchLabels": {MEMBER_NAME: "b"}}}
    required = {
        "requiredDuringSchedulingIgnoredDuringExecution": {"clusterSelectorTerms": [by_name]}
    }
    placement, _ = kubefleet.placed(
        {"placementType": "PickAll", "affinity": {"clusterAffinity": required}}
    )
    objects = [*map(kubefleet.member, "ab"), kubefleet.namespace(), placement]
    plan = plan_fleet(source_of(map(Manifest, objects)), Past(), Options())
    assert [sorted(subject.record.decisions) for subject in plan.subjects] == [["b"]]
    assert not plan.warnings


def test_failover_of_applications_that_nobody_watches_is_warned_of() -> None:
    application = {"decisionConditions": {"tolerationSeconds": 60}}
    policy = karmada.policy(
        "PropagationPolicy", propagateDeps=True, failover={"application": application}
    )
    content = [karmada.cluster("a"), kubefleet.namespace(), karmada.deployment(), policy]
    (told,) = warned(*content)
    assert "spec.failover.application: has no effect yet: nothing watches applications" in told
    assert warned(*content, karmada._sick(None)) == []
    (told,) = warned(*content, hub=True)
    assert (
        "spec.failover.application: is left out of this forecast: on the hub what fails moves"
        in told
    )
    assert warned(*content, karmada._sick(None), hub=True) == []


def test_what_depends_on_how_a_hub_is_set_up_is_left_out_of_its_forecast() -> None:
    toleration = {"key": "a", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 60}
    policy = karmada.policy("PropagationPolicy", placement={"clusterTolerations": [toleration]})
    content = [karmada.cluster("a"), kubefleet.namespace(), karmada.deployment(), policy]
    (told,) = warned(*content, hub=True)
    assert (
        "60 is left out of this forecast: on the hub it counts where NoExecute taints evict" in told
    )
    assert "noExecuteEviction: true" in told
    assert warned(*content, karmada.settings(noExecuteEviction=True), hub=True) == []


def _widget(name: str, **spec: Any) -> Object:
    metadata = {"name": name, "namespace": "shop"}
    return {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": metadata, "spec": spec}


WIDGETS = karmada.policy(
    "PropagationPolicy",
    resourceSelectors=[
        {"apiVersion": "example.com/v1", "kind": "Widget"},
        {"apiVersion": "v1", "kind": "ConfigMap"},
        {"apiVersion": "apps/v1", "kind": "Deployment"},
    ],
    placement={"replicaScheduling": karmada.divided()},
)
AROUND = [
    karmada.cluster("a"),
    karmada.cluster("b"),
    kubefleet.namespace(),
    kubefleet.config("app"),
    karmada.deployment(),
]


def test_a_kind_whose_replicas_nobody_knows_is_warned_of_once() -> None:
    (told,) = warned(*AROUND, WIDGETS, _widget("one", size=3), _widget("two", parts=[{"size": 1}]))
    assert told.startswith(
        "PropagationPolicy shop/web: spec.placement.replicaScheduling: Widget shop/one goes whole to every member that is "
        "selected, as 1 other of the kind: nobody knows its replicas"
    )
    assert "spec.workloads of a KarmadaSettings: {apiVersion: example.com/v1, kind: Widget" in told


def test_a_kind_without_any_number_or_one_that_is_declared_is_not() -> None:
    assert warned(*AROUND, WIDGETS, _widget("one", secret="tls", ready=True)) == []
    known = karmada.settings(
        workloads=[{"apiVersion": "example.com/v1", "kind": "Widget", "replicas": "spec.size"}]
    )
    assert warned(*AROUND, WIDGETS, _widget("one", size=3), known) == []
    duplicated = {**WIDGETS, "spec": {**WIDGETS["spec"], "placement": {}}}
    assert warned(*AROUND, duplicated, _widget("one", size=3)) == []


def test_where_the_object_stands_is_said(tmp_path: Path) -> None:
    documents = [_widget("one", size=3), WIDGETS, *AROUND]
    (tmp_path / "fleet.yaml").write_text("---\n".join(map(yaml.safe_dump, documents)))
    (told,) = plan_fleet(read_source(tmp_path), Past(), Options()).warnings
    assert f"Widget shop/one ({tmp_path / 'fleet.yaml'}:1) goes whole" in told.what
    lines = (tmp_path / "fleet.yaml").read_text().splitlines()
    assert told.file == str(tmp_path / "fleet.yaml")
    assert told.line is not None
    assert lines[told.line - 1].strip() == "replicaScheduling:"


def test_a_status_with_a_name_that_nobody_knows_is_warned_of() -> None:
    member = {**MEMBER, "status": {"propertes": {}}}
    (told,) = warned(member)
    assert told == (
        'MemberCluster a: status.propertes: unknown field "status.propertes": it has no effect (write "properties")'
    )


@pytest.mark.parametrize(
    ("status", "field"),
    [
        ({"agentStatus": "well"}, "status.agentStatus"),
        (
            {"agentStatus": [{"type": "MemberAgent", "conditions": [{"status": "True"}]}]},
            "status.agentStatus[0].conditions[0].type",
        ),
        ({"properties": {"example.com/a": "5"}}, "status.properties[example.com/a]"),
        ({"resourceUsage": {"capacity": ["cpu"]}}, "status.resourceUsage.capacity"),
    ],
)
def test_a_status_that_cannot_be_read_is_refused_at_its_field(status: Object, field: str) -> None:
    (told,) = refused({**MEMBER, "status": status})
    assert told.startswith(f"MemberCluster a: {field}: ")


@pytest.mark.parametrize(
    ("cluster", "field"),
    [
        (karmada.cluster("a", {"apiEnablements": [{}]}), "status.apiEnablements[0].groupVersion"),
        (
            karmada.cluster("a", {"resourceSummary": {"allocatable": {"cpu": []}}}),
            "status.resourceSummary.allocatable.cpu",
        ),
    ],
)
def test_so_is_that_of_a_cluster(cluster: Object, field: str) -> None:
    (told,) = refused(cluster)
    assert told.startswith(f"Cluster a: {field}: ")


def test_an_envelope_is_held_to_its_definition() -> None:
    wrong = {
        "apiVersion": _FLEET,
        "kind": "ResourceEnvelope",
        "metadata": {"name": "w", "namespace": "shop"},
    }
    told = refused(MEMBER, {**wrong, "spec": {"data": {}}, "data": {}})
    assert any("unknown field" in it for it in told)
    assert any("data: Invalid value: 0" in it for it in told)
