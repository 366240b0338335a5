"""What users get wrong in Karmada's objects: each refusal names line, field, what is wrong, and what would do."""

from __future__ import annotations

import pytest

from fleet_components.admission import Admission, admit
from fleet_components.content.load import load_text
from fleet_components.model.manifest import Manifest
from fleet_components.model.problem import show_path
from tests.vectors import vectors

_POLICY = """\
apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: {name: web, namespace: shop}
spec:
  resourceSelectors:
  - {apiVersion: apps/v1, kind: Deployment, name: web}
"""
_PLACEMENT = _POLICY + "  placement:\n"
_NO_SELECTORS = _POLICY.partition("  resourceSelectors")[0]
_RULE = """\
apiVersion: policy.karmada.io/v1alpha1
kind: OverridePolicy
metadata: {name: web, namespace: shop}
spec:
  overrideRules:
  - overriders:
"""
_CLUSTER = """\
apiVersion: cluster.karmada.io/v1alpha1
kind: Cluster
metadata: {name: member1}
spec:
  syncMode: Push
"""
_REBALANCER = """\
apiVersion: apps.karmada.io/v1alpha1
kind: WorkloadRebalancer
metadata: {name: web}
spec:
"""
_TAINTING = """\
apiVersion: policy.karmada.io/v1alpha1
kind: ClusterTaintPolicy
metadata: {name: down}
spec:
"""

# (text, line, stage, field, part of what is wrong, part of the hint)
_BAD = {
    "kind misspelt": (
        _POLICY.replace("Propagation", "Propogation"),
        (
            2,
            "kind",
            "kind",
            'no matches for kind "PropogationPolicy"',
            "write kind: PropagationPolicy",
        ),
    ),
    "version that does not exist": (
        _POLICY.replace("/v1alpha1", "/v1", 1),
        (
            1,
            "kind",
            "apiVersion",
            "policy.karmada.io/v1",
            "write apiVersion: policy.karmada.io/v1alpha1",
        ),
    ),
    "field with a capital": (
        _PLACEMENT
        + "    clusterTolerations:\n    - key: gpu\n      operator: Exists\n      Effect: NoSchedule\n",
        (
            11,
            "strict",
            "spec.placement.clusterTolerations[0].Effect",
            "unknown field",
            'write "effect"',
        ),
    ),
    "field in the wrong place": (
        _PLACEMENT + "    weightPreference: {dynamicWeight: AvailableReplicas}\n",
        (
            8,
            "strict",
            "spec.placement.weightPreference",
            "unknown field",
            "it belongs at spec.placement.replicaScheduling.weightPreference",
        ),
    ),
    "affinity as a list": (
        _PLACEMENT + "    clusterAffinity:\n    - clusterNames: [member1]\n",
        (
            8,
            "decode",
            "spec.placement.clusterAffinity",
            "cannot unmarshal array into Go struct field Placement.spec.placement.clusterAffinity of type "
            "v1alpha1.ClusterAffinity",
            "expected an object, found a list: write clusterAffinity: {clusterNames: [member1]}",
        ),
    ),
    "names as a text": (
        _PLACEMENT + "    clusterAffinity: {clusterNames: member1}\n",
        (
            8,
            "decode",
            "spec.placement.clusterAffinity.clusterNames",
            "[]string",
            "write clusterNames: [member1]",
        ),
    ),
    "affinity and affinities": (
        _PLACEMENT
        + "    clusterAffinity: {clusterNames: [a]}\n    clusterAffinities: [{affinityName: a, clusterNames: [b]}]\n",
        (
            7,
            "webhook",
            "spec.placement",
            "cannot co-exist with clusterAffinity",
            "the first of the groups",
        ),
    ),
    "affinity name too long": (
        _PLACEMENT + f"    clusterAffinities: [{{affinityName: {'a' * 33}}}]\n",
        (
            8,
            "crd",
            "spec.placement.clusterAffinities[0].affinityName",
            "Too long",
            "write at most 32 characters",
        ),
    ),
    "affinity name twice": (
        _PLACEMENT + "    clusterAffinities: [{affinityName: a}, {affinityName: a}]\n",
        (
            8,
            "webhook",
            "spec.placement.clusterAffinities",
            "must have a unique name",
            'rename one of the groups "a"',
        ),
    ),
    "field that members do not have": (
        _PLACEMENT
        + "    clusterAffinity:\n      fieldSelector: {matchExpressions: [{key: site, operator: In, values: [a]}]}\n",
        (
            9,
            "webhook",
            "spec.placement.clusterAffinity.fieldSelector",
            'unsupported key "site", must be provider, region, or zone',
            "{key: region, operator: In, values: [eu-west-1]}",
        ),
    ),
    "regions without clusters": (
        _PLACEMENT
        + "    spreadConstraints: [{spreadByField: region, minGroups: 2, maxGroups: 2}]\n",
        (
            8,
            "webhook",
            "spec.placement.spreadConstraints",
            "the cluster spread constraint must be enabled",
            "add {spreadByField: cluster, minGroups: 1, maxGroups: 10}",
        ),
    ),
    "fewer groups at most than at least": (
        _PLACEMENT
        + "    spreadConstraints:\n    - {spreadByField: cluster, minGroups: 2, maxGroups: 1}\n",
        (
            9,
            "webhook",
            "spec.placement.spreadConstraints[0]",
            "maxGroups lower than minGroups is not allowed",
            "write maxGroups: 2",
        ),
    ),
    "spread by a misspelt field": (
        _PLACEMENT + "    spreadConstraints:\n    - spreadByField: regions\n",
        (
            9,
            "crd",
            "spec.placement.spreadConstraints[0].spreadByField",
            'Unsupported value: "regions"',
            "write spreadByField: region",
        ),
    ),
    "scheduling type in lower case": (
        _PLACEMENT + "    replicaScheduling:\n      replicaSchedulingType: divided\n",
        (
            9,
            "crd",
            "spec.placement.replicaScheduling.replicaSchedulingType",
            'supported values: "Duplicated", "Divided"',
            "write replicaSchedulingType: Divided",
        ),
    ),
    "overflow with static weights": (
        _PLACEMENT
        + "    replicaScheduling: {}\n    clusterAffinities:\n    - affinityName: a\n      clusterNames: [one]\n"
        "      overflowAffinities: [{affinityName: b, clusterNames: [two]}]\n",
        (
            12,
            "webhook",
            "spec.placement.clusterAffinities[0].overflowAffinities",
            "only be used together with dynamic weight or aggregated scheduling",
            "replicaDivisionPreference: Aggregated",
        ),
    ),
    "numeric toleration": (
        _PLACEMENT + "    clusterTolerations:\n    - {key: a, operator: Gt, value: '1'}\n",
        (
            9,
            "webhook",
            "spec.placement.clusterTolerations[0].operator",
            'supported values: "", "Exists", "Equal"',
            "write operator: Exists",
        ),
    ),
    "no selectors": (
        _NO_SELECTORS + "  priority: 1\n",
        (
            4,
            "crd",
            "spec.resourceSelectors",
            "Required value",
            "add resourceSelectors: [{apiVersion: apps/v1",
        ),
    ),
    "an empty list of selectors": (
        _NO_SELECTORS + "  resourceSelectors: []\n",
        (
            5,
            "crd",
            "spec.resourceSelectors",
            "should have at least 1 items",
            "write resourceSelectors: [{apiVersion",
        ),
    ),
    "selector of another namespace": (
        _NO_SELECTORS
        + "  resourceSelectors:\n  - {apiVersion: v1, kind: Secret, name: web, namespace: bank}\n",
        (
            6,
            "webhook",
            "spec.resourceSelectors[0].namespace",
            'Invalid value: "bank": namespace of resource selector must be the same as the namespace of the policy',
            "create the policy in the namespace bank",
        ),
    ),
    "preemption of a whole kind": (
        _NO_SELECTORS
        + "  preemption: Always\n  resourceSelectors:\n  - {apiVersion: apps/v1, kind: Deployment}\n",
        (
            7,
            "webhook",
            "spec.resourceSelectors[0].name",
            "name cannot be empty",
            "write preemption: Never",
        ),
    ),
    "failover without dependencies": (
        _POLICY + "  failover:\n    application: {decisionConditions: {tolerationSeconds: 60}}\n",
        (
            4,
            "webhook",
            "spec.propagateDeps",
            "propagateDeps must be true",
            "write propagateDeps: true",
        ),
    ),
    "grace without a graceful purge": (
        _POLICY
        + "  propagateDeps: true\n  failover:\n    application:\n      decisionConditions: {}\n"
        "      purgeMode: Directly\n      gracePeriodSeconds: 5\n",
        (
            12,
            "webhook",
            "spec.failover.application.gracePeriodSeconds",
            "only takes effect when purgeMode is gracefully",
            "remove it",
        ),
    ),
    "priority as a word": (
        _POLICY + "  priority: high\n",
        (
            7,
            "decode",
            "spec.priority",
            "cannot unmarshal string",
            "expected a whole number, found a string",
        ),
    ),
    "suspension of all and of some": (
        _POLICY
        + "  suspension:\n    dispatching: true\n    dispatchingOnClusters: {clusterNames: [a]}\n",
        (
            7,
            "webhook",
            "spec.suspension",
            "suspension dispatching cannot co-exist with dispatchingOnClusters.clusterNames",
            "remove dispatching",
        ),
    ),
    "rules as an object": (
        _RULE.replace("  - overriders:\n", "    overriders: {}\n"),
        (
            5,
            "decode",
            "spec.overrideRules",
            "[]v1alpha1.RuleWithCluster",
            "write overrideRules: [{overriders: {",
        ),
    ),
    "overrider misspelt": (
        _RULE + "      imageOverriders: []\n",
        (
            7,
            "strict",
            "spec.overrideRules[0].overriders.imageOverriders",
            "unknown field",
            'write "imageOverrider"',
        ),
    ),
    "operator that there is not": (
        _RULE + "      plaintext:\n      - {path: /spec/replicas, operator: set, value: 1}\n",
        (
            8,
            "crd",
            "spec.overrideRules[0].overriders.plaintext[0].operator",
            'Unsupported value: "set"',
            "write one of add, remove, replace",
        ),
    ),
    "image path with dots": (
        _RULE
        + "      imageOverrider:\n      - component: Tag\n        operator: replace\n        value: v2\n"
        "        predicate: {path: spec.image}\n",
        (
            11,
            "webhook",
            "spec.overrideRules[0].overriders.imageOverrider[0].predicate.path",
            'JSON pointer must be empty or start with a "/',
            "write path: /spec/image",
        ),
    ),
    "label with a space": (
        _RULE + "      labelsOverrider:\n      - {operator: add, value: {team: the shop}}\n",
        (
            8,
            "webhook",
            "spec.overrideRules[0].overriders.labelsOverrider[0].value",
            'Invalid value: "the shop": a valid label must be',
            "the-shop",
        ),
    ),
    "annotation as a number": (
        _RULE + "      annotationsOverrider:\n      - {operator: add, value: {port: 80}}\n",
        (
            8,
            "decode",
            "spec.overrideRules[0].overriders.annotationsOverrider[0].value.port",
            "cannot unmarshal number",
            "write port: '80'",
        ),
    ),
    "field of both forms": (
        _RULE
        + "      fieldOverrider:\n      - fieldPath: /data/x\n        json: [{subPath: /a, operator: remove}]\n"
        "        yaml: [{subPath: /a, operator: remove}]\n",
        (
            8,
            "webhook",
            "spec.overrideRules[0].overriders.fieldOverrider[0]",
            "has both YAML and JSON set",
            "keep json or yaml",
        ),
    ),
    "field change without a value": (
        _RULE
        + "      fieldOverrider:\n      - fieldPath: /data/x\n        json: [{subPath: /a, operator: add}]\n",
        (
            9,
            "webhook",
            "spec.overrideRules[0].overriders.fieldOverrider[0].json[0].value",
            "value is required for add or replace operation",
            "add value: 1",
        ),
    ),
    "rules and the older form": (
        _RULE + "      plaintext: []\n  overriders: {plaintext: [{path: /a, operator: remove}]}\n",
        (
            8,
            "webhook",
            "spec.overriders",
            "overrideRules and overriders can't co-exist",
            "overrideRules: [{overriders",
        ),
    ),
    "sync mode in lower case": (
        _CLUSTER.replace("Push", "push"),
        (5, "webhook", "spec.syncMode", 'supported values: "Pull", "Push"', "write syncMode: Push"),
    ),
    "name that is too long for a cluster": (
        _CLUSTER.replace("member1", "m" * 49),
        (3, "webhook", "metadata.name", "must be no more than 48 characters", "name: member1"),
    ),
    "zone and zones": (
        _CLUSTER + "  zone: a\n  zones: [b]\n",
        (4, "webhook", "spec", "Zone and Zones cannot co-exist", "move the zone into zones"),
    ),
    "zone with a space": (
        _CLUSTER + "  zones: [zone a]\n",
        (6, "webhook", "spec.zones", 'Invalid value: "zone a"', "letters, digits"),
    ),
    "cluster taint without an effect": (
        _CLUSTER + "  taints:\n  - {key: a, effect: ''}\n",
        (7, "webhook", "spec.taints[0].effect", "Required value", "write effect: NoSchedule"),
    ),
    "cluster taint twice": (
        _CLUSTER + "  taints:\n  - {key: a, effect: NoExecute}\n  - {key: a, effect: NoExecute}\n",
        (
            8,
            "webhook",
            "spec.taints[1]",
            "taints must be unique by key and effect pair",
            "remove it",
        ),
    ),
    "nothing to rebalance": (
        _REBALANCER + "  workloads: []\n",
        (
            5,
            "crd",
            "spec.workloads",
            "should have at least 1 items",
            "write workloads: [{apiVersion: apps/v1",
        ),
    ),
    "workload without a name": (
        _REBALANCER + "  workloads:\n  - {apiVersion: apps/v1, kind: Deployment}\n",
        (6, "crd", "spec.workloads[0].name", "Required value", "add name: nginx"),
    ),
    "taint that evicts": (
        _TAINTING + "  taints:\n  - {key: a, effect: NoExecute}\n",
        (
            6,
            "webhook",
            "spec.taints[0]",
            "NoExecute effect is not allowed",
            "write effect: NoSchedule",
        ),
    ),
    "condition without values": (
        _TAINTING + "  taints: [{key: a, effect: NoSchedule}]\n  addOnConditions:\n"
        "  - {conditionType: Ready, operator: NotIn}\n",
        (
            7,
            "crd",
            "spec.addOnConditions[0].statusValues",
            "Required value",
            "add statusValues: ['True']",
        ),
    ),
}


def _admit(text: str, old: str = "") -> Admission:
    return admit(load_text(text, "fleet.yaml")[0], old=load_text(old)[0] if old else None)


@pytest.mark.parametrize(("text", "wanted"), _BAD.values(), ids=_BAD)
def test_is_refused_with_place_and_way_out(
    text: str, wanted: tuple[int, str, str, str, str]
) -> None:
    line, stage, field, what, hint = wanted
    (refusal,) = (it for it in _admit(text).refusals if not it.follows)
    problem = refusal.problem
    assert (refusal.stage, problem.line, show_path(problem.path)) == (stage, line, field)
    assert what in problem.what
    assert hint in problem.hint


def test_several_problems_come_at_once() -> None:
    wrong = _PLACEMENT + "    spreadConstraints: [{spreadByField: zone}, {spreadByField: zone}]\n"
    assert [refusal.problem.what.rpartition(": ")[2] for refusal in _admit(wrong).refusals] == [
        "multiple zone spread constraints are not allowed",
        "the cluster spread constraint must be enabled in one of the constraints in case of SpreadByField is enabled",
    ]


@pytest.mark.parametrize("name", ["validation", "validation-more"])
def test_every_refusal_has_a_hint(name: str) -> None:
    cases = vectors(f"karmada/{name}")
    policies = [Manifest(case["policy"]) for case in cases if not case["outcome"]["allowed"]]
    assert policies
    assert [
        problem for policy in policies for problem in admit(policy).problems if not problem.hint
    ] == []


@pytest.mark.parametrize(
    ("before", "after", "field"),
    [
        ("  schedulerName: mine\n", "", "spec.schedulerName"),
        ("", "  schedulerName: mine\n", "spec.schedulerName"),
        ("  schedulerName: default-scheduler\n", "", None),
        ("  priority: 1\n", "  priority: 2\n  preemption: Always\n", None),
    ],
)
def test_the_scheduler_of_a_policy_cannot_change(
    before: str, after: str, field: str | None
) -> None:
    refusals = _admit(_POLICY + after, _POLICY + before).refusals
    assert [show_path(refusal.problem.path) for refusal in refusals] == ([field] if field else [])


def test_the_label_that_karmada_sets_cannot_change() -> None:
    labelled = _POLICY.replace(
        "shop}", "shop, labels: {propagationpolicy.karmada.io/permanent-id: one}}"
    )
    assert not _admit(labelled, labelled).refusals
    (refusal,) = _admit(labelled.replace("one", "two"), labelled).refusals
    assert "is immutable" in refusal.problem.what
