"""What users get wrong: each refusal names file, line, field, what is wrong, and something that would do."""

from __future__ import annotations

from textwrap import dedent

import pytest

from fleet_components.admission import Admission, Existing, admit
from fleet_components.content.load import load_text
from fleet_components.model.manifest import Manifest
from fleet_components.model.problem import show_path

_PLACEMENT = """\
apiVersion: placement.kubernetes-fleet.io/v1
kind: ClusterResourcePlacement
metadata:
  name: web
spec:
  resourceSelectors:
  - {group: "", version: v1, kind: Namespace, name: web}
"""
_MEMBER = """\
apiVersion: cluster.kubernetes-fleet.io/v1
kind: MemberCluster
metadata:
  name: member-1
spec:
  identity: {kind: ServiceAccount, name: member-1, namespace: fleet-system}
"""
_STAGES = """\
apiVersion: placement.kubernetes-fleet.io/v1
kind: ClusterStagedUpdateStrategy
metadata: {name: by-stage}
spec:
"""
_OVERRIDE = """\
apiVersion: placement.kubernetes-fleet.io/v1
kind: ClusterResourceOverride
metadata: {name: web}
spec:
  clusterResourceSelectors:
  - {group: "", version: v1, kind: Namespace, name: web}
  policy:
"""
_BUDGET = """\
apiVersion: placement.kubernetes-fleet.io/v1beta1
kind: ClusterResourcePlacementDisruptionBudget
metadata: {name: web}
spec:
"""


def _admit(text: str, *context: Manifest) -> Admission:
    return admit(load_text(text, "fleet.yaml")[0], context=Existing(context))


# (text, line, stage, field, part of what is wrong, part of the hint)
_BAD = {
    "kind misspelt": (
        _PLACEMENT.replace("Placement", "Placment"),
        (
            2,
            "kind",
            "kind",
            'no matches for kind "ClusterResourcePlacment"',
            "write kind: ClusterResourcePlacement",
        ),
    ),
    "version that does not exist": (
        _PLACEMENT.replace("/v1", "/v2"),
        (1, "kind", "apiVersion", "/v2", "write apiVersion: placement.kubernetes-fleet.io/v1"),
    ),
    "group misspelt": (
        _MEMBER.replace(".io/", "/"),
        (
            1,
            "kind",
            "apiVersion",
            "cluster.kubernetes-fleet/v1",
            "write apiVersion: cluster.kubernetes-fleet.io/v1",
        ),
    ),
    "kind in the core group": (
        _MEMBER.replace("cluster.kubernetes-fleet.io/", ""),
        (
            1,
            "kind",
            "apiVersion",
            'in version "v1"',
            "write apiVersion: cluster.kubernetes-fleet.io/v1",
        ),
    ),
    "field misspelt": (
        _PLACEMENT + "  policy:\n    placementTyp: PickAll\n",
        (
            9,
            "strict",
            "spec.policy.placementTyp",
            'unknown field "spec.policy.placementTyp"',
            'write "placementType"',
        ),
    ),
    "field with a capital": (
        _PLACEMENT
        + "  policy:\n    tolerations:\n    - key: gpu\n      operator: Exists\n      Effect: NoSchedule\n",
        (12, "strict", "spec.policy.tolerations[0].Effect", "unknown field", 'write "effect"'),
    ),
    "field in the wrong place": (
        _PLACEMENT + "  numberOfClusters: 3\n",
        (
            8,
            "strict",
            "spec.numberOfClusters",
            "unknown field",
            "it belongs at spec.policy.numberOfClusters",
        ),
    ),
    "labels without matchLabels": (
        _STAGES + "  stages:\n  - name: canary\n    labelSelector: {env: canary}\n",
        (
            7,
            "strict",
            "spec.stages[0].labelSelector.env",
            "unknown field",
            "write matchLabels: {env: canary}",
        ),
    ),
    "field of another version": (
        _PLACEMENT + "  strategy:\n    deleteStrategy: {propagationPolicy: Abandon}\n",
        (
            9,
            "strict",
            "spec.strategy.deleteStrategy",
            "unknown",
            "write apiVersion: placement.kubernetes-fleet.io/v1beta1",
        ),
    ),
    "list given as an object": (
        _PLACEMENT + "  policy:\n    tolerations:\n      key: gpu\n",
        (
            9,
            "decode",
            "spec.policy.tolerations",
            "cannot unmarshal object",
            "expected a list, found an object: write ",
        ),
    ),
    "number given as text": (
        _PLACEMENT + '  policy: {placementType: PickN, numberOfClusters: "3"}\n',
        (
            8,
            "decode",
            "spec.policy.numberOfClusters",
            "cannot unmarshal string",
            "write numberOfClusters: 3",
        ),
    ),
    "number too great": (
        _PLACEMENT + "  policy: {placementType: PickN, numberOfClusters: 3000000000}\n",
        (
            8,
            "decode",
            "spec.policy.numberOfClusters",
            "number 3000000000",
            "write a smaller number",
        ),
    ),
    "PickN without a number": (
        _PLACEMENT + "  policy:\n    placementType: PickN\n",
        (
            8,
            "webhook",
            "spec.policy.numberOfClusters",
            "number of cluster cannot be nil for policy type PickN",
            "numberOfClusters: 3",
        ),
    ),
    "spread without PickN": (
        _PLACEMENT + "  policy:\n    topologySpreadConstraints: [{topologyKey: region}]\n",
        (
            9,
            "webhook",
            "spec.policy.topologySpreadConstraints",
            "needs to be empty for policy type PickAll",
            "write placementType: PickN",
        ),
    ),
    "placement type in lower case": (
        _PLACEMENT + "  policy:\n    placementType: pickAll\n",
        (
            9,
            "crd",
            "spec.policy.placementType",
            'Unsupported value: "pickAll"',
            "write placementType: PickAll",
        ),
    ),
    "no selectors": (
        _PLACEMENT.partition("  resourceSelectors")[0] + "  policy: {}\n",
        (
            5,
            "crd",
            "spec.resourceSelectors",
            "Required value",
            "add resourceSelectors: [{group: ''",
        ),
    ),
    "amount that is not an amount": (
        _PLACEMENT + '  strategy: {rollingUpdate: {maxSurge: "a third"}}\n',
        (8, "crd", "spec.strategy.rollingUpdate.maxSurge", "should match", "write maxSurge: 25%"),
    ),
    "amount as text": (
        _PLACEMENT + '  strategy: {rollingUpdate: {maxSurge: "3"}}\n',
        (
            8,
            "webhook",
            "spec.strategy.rollingUpdate.maxSurge",
            "string is not a percentage",
            "write maxSurge: 3",
        ),
    ),
    "preference with PickAll": (
        _PLACEMENT + "  policy:\n    affinity:\n      clusterAffinity:\n"
        "        preferredDuringSchedulingIgnoredDuringExecution: [{weight: 1, preference: {}}]\n",
        (
            11,
            "webhook",
            "spec.policy.affinity.clusterAffinity.preferredDuringSchedulingIgnoredDuringExecution",
            "will be ignored for placement policy type PickAll",
            "placementType: PickN",
        ),
    ),
    "group named core": (
        _PLACEMENT.replace('group: ""', "group: core"),
        (
            7,
            "webhook",
            "spec.resourceSelectors[0].kind",
            "no matches for kind",
            'write group: "", version: v1',
        ),
    ),
    "version that is not served": (
        _PLACEMENT.replace("version: v1", "version: v1beta1"),
        (
            7,
            "webhook",
            "spec.resourceSelectors[0].version",
            'in version "v1beta1"',
            "write version: v1",
        ),
    ),
    "object in a namespace": (
        _PLACEMENT.replace("kind: Namespace", "kind: ConfigMap"),
        (
            7,
            "webhook",
            "spec.resourceSelectors[0].kind",
            "not a cluster scoped resource",
            "select its namespace",
        ),
    ),
    "custom kind that nobody defines": (
        _PLACEMENT.replace('group: ""', "group: example.com"),
        (
            7,
            "webhook",
            "spec.resourceSelectors[0].kind",
            'in version "example.com/v1"',
            'write group: ""',
        ),
    ),
    "taint effect that KubeFleet does not know": (
        _MEMBER + "  taints:\n  - key: gpu\n    effect: NoExecute\n",
        (
            9,
            "crd",
            "spec.taints[0].effect",
            'supported values: "NoSchedule"',
            "write effect: NoSchedule",
        ),
    ),
    "taint twice": (
        _MEMBER
        + "  taints:\n  - {key: gpu, effect: NoSchedule}\n  - {key: gpu, effect: NoSchedule}\n",
        (9, "webhook", "spec.taints[1]", "taints must be unique", "remove it"),
    ),
    "name with a capital": (
        _MEMBER.replace("name: member-1\nspec", "name: Member-1\nspec"),
        (4, "crd", "metadata.name", 'Invalid value: "Member-1"', "lower-case"),
    ),
    "name too long": (
        _MEMBER.replace("name: member-1\nspec", f"name: {'m' * 64}\nspec"),
        (1, "crd", "", "metadata.name max length is 63", "shorter"),
    ),
    "label with a space": (
        _MEMBER.replace(
            "name: member-1\nspec", "name: member-1\n  labels:\n    site: new york\nspec"
        ),
        (6, "crd", "metadata.labels.site", 'Invalid value: "new york"', "annotation"),
    ),
    "stage name with a dash": (
        _STAGES + "  stages:\n  - name: canary-1\n",
        (6, "crd", "spec.stages[0].name", "'^[a-z0-9]+$'", "write name: canary"),
    ),
    "wait in days": (
        _STAGES
        + "  stages:\n  - name: canary\n    afterStageTasks: [{type: TimedWait, waitTime: 1d}]\n",
        (
            7,
            "crd",
            "spec.stages[0].afterStageTasks[0].waitTime",
            "should match",
            "write waitTime: 1h",
        ),
    ),
    "wait without time": (
        _STAGES + "  stages:\n  - name: canary\n    afterStageTasks: [{type: TimedWait}]\n",
        (7, "crd", "spec.stages[0].afterStageTasks", "waitTime is required", "waitTime: 1h"),
    ),
    "patch of the status": (
        _OVERRIDE + "    overrideRules:\n    - clusterSelector: {clusterSelectorTerms: []}\n"
        "      jsonPatchOverrides: [{op: add, path: /status/x, value: 1}]\n",
        (
            10,
            "webhook",
            "spec.policy.overrideRules[0].jsonPatchOverrides[0].path",
            "invalid JSONPatchOverride {add /status/x {1}}: cannot override status fields",
            "path: /metadata/annotations/owner",
        ),
    ),
    "patch operation in capitals": (
        _OVERRIDE
        + "    overrideRules:\n    - jsonPatchOverrides: [{op: Add, path: /x, value: 1}]\n",
        (
            9,
            "crd",
            "spec.policy.overrideRules[0].jsonPatchOverrides[0].op",
            'Unsupported value: "Add"',
            "write op: add",
        ),
    ),
    "budget of 101 per cent": (
        _BUDGET + "  minAvailable: 101%\n",
        (5, "crd", "spec.minAvailable", "should match regex", '"25%"'),
    ),
}


@pytest.mark.parametrize(("text", "wanted"), _BAD.values(), ids=_BAD)
def test_is_refused_with_place_and_way_out(
    text: str, wanted: tuple[int, str, str, str, str]
) -> None:
    line, stage, field, what, hint = wanted
    matching = [it for it in _admit(text).refusals if show_path(it.problem.path) == field]
    assert [(it.stage, it.problem.line, it.problem.file) for it in matching] == [
        (stage, line, "fleet.yaml")
    ]
    assert what in matching[0].problem.what
    assert hint in matching[0].problem.hint


def test_the_published_form_of_preferred_terms_is_answered_with_the_working_one() -> None:
    printed = """\
      policy:
        placementType: PickN
        numberOfClusters: 3
        affinity:
          clusterAffinity:
            preferredDuringSchedulingIgnoredDuringExecution:
              weight: 20
              preference:
              - labelSelector:
                  matchLabels:
                    critical-level: 1
    """
    (problem,) = _admit(_PLACEMENT + _indented(printed)).problems
    assert problem.line == 13
    assert problem.hint.endswith(
        "write preferredDuringSchedulingIgnoredDuringExecution: "
        "[{weight: 20, preference: {labelSelector: {matchLabels: {critical-level: '1'}}}}]"
    )


def test_a_hub_says_unknown_to_the_fields_of_an_object_that_should_be_a_list() -> None:
    refusals = _admit(
        _PLACEMENT + _indented("      policy:\n        tolerations: {key: a}\n")
    ).refusals
    assert [it.text for it in refusals if it.follows] == [
        'strict decoding error: unknown field "spec.policy.tolerations.key"'
    ]


def _indented(text: str) -> str:
    return "".join(f"  {line}\n" for line in dedent(text).splitlines())


def test_several_problems_come_at_once() -> None:
    wrong = (
        _MEMBER.replace("namespace:", "Namespace:")
        + "  heartbeatPeriodSeconds: 0\n  taints: [{key: a}]\n"
    )
    assert [show_path(problem.path) for problem in _admit(wrong).problems] == [
        "spec.identity.Namespace",
        "spec.heartbeatPeriodSeconds",
        "spec.taints[0].effect",
    ]


_POLICY = _PLACEMENT + "  policy:\n    placementType: PickN\n"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (_POLICY + "    numberOfCluster: 3\n", ["spec.policy.numberOfCluster"]),
        (_PLACEMENT.replace("resourceSelectors", "resourceSelector"), ["spec.resourceSelector"]),
        (
            _POLICY + "    clusterName: [a]\n",
            ["spec.policy.numberOfClusters", "spec.policy.clusterName"],
        ),
        (
            _POLICY + "    numberOfCluster: 3\n    numberOfClusters: -1\n",
            ["numberOfCluster", "numberOfClusters"],
        ),
        (
            _PLACEMENT
            + "  policy:\n    placementType: PickFixed\n    clusterNames: [a]\n    numberOfClustrs: 3\n",
            ["spec.policy.numberOfClustrs"],
        ),
        (
            _PLACEMENT
            + "  policy:\n    tolerations:\n    - key: a b\n      operatr: Exists\n      value: x\n",
            ["tolerations[0].key", "tolerations[0].operatr"],
        ),
        (
            _PLACEMENT.replace("resourceSelectors", "resourceSelector").replace(
                "version: v1", "Version: v1"
            ),
            ["spec.resourceSelector"],
        ),
        (
            _PLACEMENT.replace("resourceSelectors", "resourceSelector").replace(
                "Namespace", "ConfigMap"
            ),
            ["spec.resourceSelector"],
        ),
    ],
    ids=[
        "rule",
        "required field",
        "other field",
        "both given",
        "not missed",
        "earlier stage",
        "within another",
        "later stage",
    ],
)
def test_what_a_misspelt_field_entails_is_not_told(text: str, shown: list[str]) -> None:
    paths = [show_path(problem.path) for problem in _admit(text).problems]
    assert [path[-len(end) :] for path, end in zip(paths, shown, strict=True)] == shown


def test_a_refusal_that_is_not_told_is_still_one_of_a_hub() -> None:
    refusals = _admit(_POLICY + "    numberOfCluster: 3\n").refusals
    assert [(refusal.stage, refusal.follows) for refusal in refusals] == [
        ("strict", False),
        ("webhook", True),
    ]


def test_problems_come_in_the_order_of_lines() -> None:
    wrong = "  strategy:\n    rollingUpdate:\n      maxSurge: x\n  policy:\n    placementType: Pickall\n    number: 3\n"
    admission = _admit(_PLACEMENT + wrong)
    assert [problem.line for problem in admission.problems] == [10, 12, 13]
    assert [refusal.problem.line for refusal in admission.refusals] == [13, 12, 10]


@pytest.mark.parametrize(
    ("strategy", "version"),
    [("", "v1"), ("  strategy:\n    deleteStrategy: {propagationPolicy: Abandon}\n", "v1beta1")],
)
def test_the_version_named_has_all_fields(strategy: str, version: str) -> None:
    (problem,) = _admit(_PLACEMENT.replace("/v1", "/v2") + strategy).problems
    assert problem.hint == f"write apiVersion: placement.kubernetes-fleet.io/{version}"


@pytest.mark.parametrize(
    ("group", "version", "kind"),
    [
        ("rbac.authorization.k8s.io", "v1beta1", "ClusterRole"),
        ("authentication.k8s.io", "v1", "TokenReview"),
        ("resource.k8s.io", "v1", "DeviceTaintRule"),
        ("placement.kubernetes-fleet.io", "v1", "ClusterResourceEnvelope"),
    ],
)
def test_what_a_hub_does_not_offer_cannot_be_selected(group: str, version: str, kind: str) -> None:
    selector = f"group: {group}, version: {version}, kind: {kind}"
    (refusal,) = _admit(
        _PLACEMENT.replace('group: "", version: v1, kind: Namespace', selector)
    ).refusals
    assert f'no matches for kind "{kind}" in version "{group}/{version}"' in refusal.text


_CUSTOM = _PLACEMENT.replace('group: ""', "group: example.com").replace(
    "kind: Namespace", "kind: Widget"
)


@pytest.mark.parametrize(("scope", "refused"), [("Cluster", False), ("Namespaced", True)])
def test_a_definition_tells_where_custom_objects_live(scope: str, refused: bool) -> None:
    spec = {
        "group": "example.com",
        "names": {"kind": "Widget"},
        "scope": scope,
        "versions": [{"name": "v1"}],
    }
    definition = {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "spec": spec,
    }
    assert bool(_admit(_CUSTOM, Manifest(definition)).refusals) == refused


def test_a_custom_kind_exists_where_an_object_of_it_does() -> None:
    widget = Manifest(
        {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "one"}}
    )
    assert _admit(_CUSTOM).refusals
    assert not _admit(_CUSTOM, widget).refusals


@pytest.mark.parametrize(
    ("api_version", "kind"),
    [
        ("apps/v1", "Deployment"),
        ("fleet.azure.com/v1alpha1", "MemberCluster"),
        ("core.kubeadmiral.io/v1alpha1", "OverridePolicy"),
        ("cluster.x-k8s.io/v1beta1", "Cluster"),
        ("placement.kubernetes-fleet.io/v1beta1", "ClusterSchedulingPolicySnapshot"),
    ],
)
def test_objects_of_other_systems_pass_unchanged(api_version: str, kind: str) -> None:
    manifest = Manifest(
        {"apiVersion": api_version, "kind": kind, "metadata": {"name": "x"}, "spec": {"any": None}}
    )
    assert admit(manifest) == Admission(manifest)


def _override(name: str, namespace: str = "web") -> Manifest:
    """An existing override of a namespace."""
    term = {"group": "", "version": "v1", "kind": "Namespace", "name": namespace}
    data = {"apiVersion": "placement.kubernetes-fleet.io/v1", "kind": "ClusterResourceOverride"}
    return Manifest(
        {**data, "metadata": {"name": name}, "spec": {"clusterResourceSelectors": [term]}}
    )


_RULE = "    overrideRules:\n    - {overrideType: Delete, clusterSelector: {clusterSelectorTerms: []}}\n"


def test_one_override_a_resource_itself_excepted() -> None:
    (refusal,) = _admit(_OVERRIDE + _RULE, _override("other")).refusals
    assert "has been selected by both web and other" in refusal.text
    assert refusal.problem.hint == "put the rules of both into other"
    assert not _admit(_OVERRIDE + _RULE, _override("web")).refusals


def test_at_most_100_overrides_of_a_kind() -> None:
    many = [_override(f"other-{number}", "elsewhere") for number in range(100)]
    (refusal,) = _admit(_OVERRIDE + _RULE, *many).refusals
    assert refusal.text.startswith("clusterResourceOverride limit has been reached")
    assert not _admit(_OVERRIDE + _RULE, *many[1:], _override("web")).refusals
    manifest = load_text(_OVERRIDE + _RULE)[0]
    assert not admit(manifest, old=manifest, context=Existing(tuple(many))).refusals


def test_a_deleted_placement_may_be_updated_though_its_old_form_is_invalid() -> None:
    old = load_text(_PLACEMENT + "  policy: {placementType: PickFixed, clusterNames: [a, a]}\n")[0]
    (refusal,) = admit(old, old=old).refusals[:1]
    assert refusal.text.startswith(
        "deny update on old invalid v1beta1 CRP with DeletionTimestamp not set the placement"
    )
    deleted = {
        **old.data,
        "metadata": {**old.metadata, "deletionTimestamp": "2000-01-01T00:00:00Z"},
    }
    assert not admit(Manifest(deleted), old=old).refusals
