"""What a member takes, and does not run as the source means it, is warned of; each check can be skipped."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet_components.content.references import references, retired
from fleet_components.model.manifest import Manifest
from fleet_components.model.problem import FleetError, Problem, show_path
from fleet_components.option_values import SkippableCheck
from fleet_components.plan.options import Options
from fleet_components.rollout.rollout import Change
from tests.plan.flipped import Data, karmada_member, planned
from tools.defaults.__main__ import objects_of_every_type

POLICY = "policy.karmada.io/v1alpha1"
DIGEST = "@sha256:" + "a" * 64
FLEET = [karmada_member("a"), karmada_member("b")]
CHECKS = [f"skip the check {check}" for check in SkippableCheck]


def named(version: str, kind: str, name: str, **fields: Any) -> Data:
    metadata = {"name": name, "namespace": "default"}
    return {"apiVersion": version, "kind": kind, "metadata": metadata, **fields}


def workload(kind: str = "Deployment", version: str = "apps/v1", **pod: Any) -> Data:
    """A workload ``web``, with fields of its pods."""
    labels = {"app": "web"}
    containers = [{"name": "web", "image": f"example.com/web:1{DIGEST}"}]
    template = {"metadata": {"labels": labels}, "spec": {"containers": containers, **pod}}
    spec: Data = {"selector": {"matchLabels": labels}, "template": template}
    return named(version, kind, "web", spec=spec)


def placed(data: Data, *clusters: str) -> list[Data]:
    """An object with the policy that places it."""
    selector = {
        "apiVersion": data["apiVersion"],
        "kind": data["kind"],
        "name": data["metadata"]["name"],
    }
    spec = {
        "resourceSelectors": [selector],
        "placement": {"clusterAffinity": {"clusterNames": list(clusters)}},
    }
    name = f"{data['kind']}-{data['metadata']['name']}".lower()
    return [data, named(POLICY, "PropagationPolicy", name, spec=spec)]


def found(documents: list[Data], *skipped: str) -> list[Problem]:
    """The warnings of the checks."""
    plan = planned(documents, options=Options(skip_checks=frozenset(skipped)))
    return [problem for problem in plan.warnings if problem.hint.endswith(tuple(CHECKS))]


def config(name: str = "conf") -> Data:
    return named("v1", "ConfigMap", name, data={"k": "v"})


FROM_CONF: Data = {
    "containers": [{"name": "web", "image": "web", "envFrom": [{"configMapRef": {"name": "conf"}}]}]
}


def test_what_is_needed_and_goes_elsewhere() -> None:
    documents = [*FLEET, *placed(workload(**FROM_CONF), "a", "b"), *placed(config(), "a")]
    (problem,) = found(documents)
    assert problem.subject == "Deployment default/web"
    assert problem.what == "needs ConfigMap default/conf, which does not go to b"
    assert not found(documents, SkippableCheck.REFERENCES)
    assert found(documents, SkippableCheck.DIGESTS, SkippableCheck.AUTOSCALERS) == [problem]


def test_what_is_needed_and_in_no_source() -> None:
    volumes = [{"name": "d", "persistentVolumeClaim": {"claimName": "data"}}]
    web = workload(serviceAccountName="runner", volumes=volumes)
    (problem,) = found([*FLEET, *placed(web, "a")])
    claim, account = "PersistentVolumeClaim default/data", "ServiceAccount default/runner"
    assert problem.what == f"needs {claim}, {account}, which are not in the source; it goes to a"


def test_a_hub_may_have_what_an_observation_lacks() -> None:
    documents = [*FLEET, *placed(workload(**FROM_CONF), "a", "b")]
    assert found(documents)
    plan = planned(documents, options=Options(hub="karmada"))
    assert not [problem for problem in plan.warnings if problem.hint.endswith(tuple(CHECKS))]


@pytest.mark.parametrize(
    "pod",
    [
        {"serviceAccountName": "default"},
        {"volumes": [{"name": "c", "configMap": {"name": "conf", "optional": True}}]},
        {"volumes": [{"name": "c", "configMap": {"name": "kube-root-ca.crt"}}]},
        {
            "volumes": [
                {
                    "name": "c",
                    "projected": {"sources": [{"secret": {"name": "s", "optional": True}}]},
                }
            ]
        },
    ],
    ids=["default account", "optional", "of every namespace", "optional and projected"],
)
def test_what_is_not_needed(pod: Data) -> None:
    assert not found([*FLEET, *placed(workload(**pod), "a")])


BACKEND = {"service": {"name": "shop", "port": {"number": 80}}}
RULES = [{"http": {"paths": [{"path": "/", "pathType": "Prefix", "backend": BACKEND}]}}]
NEEDS: dict[str, tuple[Data, list[str]]] = {
    "an Ingress": (
        named(
            "networking.k8s.io/v1",
            "Ingress",
            "web",
            spec={"tls": [{"secretName": "tls"}], "rules": RULES},
        ),
        ["Secret default/tls", "Service default/shop"],
    ),
    "an Ingress with cert-manager": (
        {
            **named(
                "networking.k8s.io/v1", "Ingress", "web", spec={"tls": [{"secretName": "tls"}]}
            ),
            "metadata": {
                "name": "web",
                "namespace": "default",
                "annotations": {"cert-manager.io/cluster-issuer": "x"},
            },
        },
        [],
    ),
    "a route": (
        named(
            "gateway.networking.k8s.io/v1",
            "HTTPRoute",
            "web",
            spec={
                "rules": [
                    {"backendRefs": [{"name": "shop", "port": 80}, {"name": "x", "kind": "Other"}]}
                ]
            },
        ),
        ["Service default/shop"],
    ),
    "an autoscaler": (
        named(
            "autoscaling/v2",
            "HorizontalPodAutoscaler",
            "web",
            spec={"scaleTargetRef": {"kind": "A", "name": "b", "apiVersion": "c/v1"}},
        ),
        ["A default/b"],
    ),
    "a scaler of KEDA": (
        named("keda.sh/v1alpha1", "ScaledObject", "web", spec={"scaleTargetRef": {"name": "web"}}),
        ["Deployment default/web"],
    ),
    "a broken pod": (named("v1", "Pod", "web", spec={"containers": [{"envFrom": ["x"]}]}), []),
}


@pytest.mark.parametrize(("data", "needed"), NEEDS.values(), ids=NEEDS)
def test_references(data: Data, needed: list[str]) -> None:
    assert sorted(map(str, references(Manifest(data)))) == needed


SEALED: dict[str, Data] = {
    "SealedSecret": named("bitnami.com/v1alpha1", "SealedSecret", "cred", spec={}),
    "Certificate": named("cert-manager.io/v1", "Certificate", "x", spec={"secretName": "cred"}),
    "ExternalSecret": named(
        "external-secrets.io/v1", "ExternalSecret", "x", spec={"target": {"name": "cred"}}
    ),
    "ExternalSecret without a target": named(
        "external-secrets.io/v1", "ExternalSecret", "cred", spec={}
    ),
}


@pytest.mark.parametrize("producer", SEALED.values(), ids=SEALED)
def test_what_a_controller_creates(producer: Data) -> None:
    """It is there where its producer is."""
    web = workload(imagePullSecrets=[{"name": "cred"}])
    assert not found([*FLEET, *placed(web, "a"), *placed(producer, "a")])
    (problem,) = found([*FLEET, *placed(web, "a", "b"), *placed(producer, "a")])
    assert "Secret default/cred" in problem.what


def scaler() -> Data:
    target = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}
    return named(
        "autoscaling/v2",
        "HorizontalPodAutoscaler",
        "web",
        spec={"scaleTargetRef": target, "minReplicas": 1, "maxReplicas": 3},
    )


def test_an_autoscaler_beside_replicas_of_the_source() -> None:
    web = workload()
    web["spec"]["replicas"] = 2
    documents = [*FLEET, *placed(web, "a", "b"), *placed(scaler(), "b")]
    (problem,) = found(documents)
    assert problem.subject == "HorizontalPodAutoscaler default/web"
    assert (
        problem.what == "scales Deployment default/web on b, whose replicas the source sets as well"
    )
    assert not found(documents, SkippableCheck.AUTOSCALERS)
    retained = copy.deepcopy(web)
    retained["metadata"]["labels"] = {"resourcetemplate.karmada.io/retain-replicas": "true"}
    assert not found([*FLEET, *placed(retained, "a", "b"), *placed(scaler(), "b")])
    assert not found([*FLEET, *placed(web, "a"), *placed(scaler(), "b")], SkippableCheck.REFERENCES)


@pytest.mark.parametrize(
    ("overrider", "drops"),
    [
        ({"imageOverrider": [{"component": "Tag", "operator": "replace", "value": "2"}]}, True),
        (
            {
                "imageOverrider": [
                    {"component": "Registry", "operator": "replace", "value": "mirror.example"}
                ]
            },
            True,
        ),
        (
            {
                "plaintext": [
                    {
                        "path": "/spec/template/spec/containers/0/image",
                        "operator": "replace",
                        "value": f"mirror.example/web{DIGEST}",
                    }
                ]
            },
            False,
        ),
    ],
    ids=["tag", "registry", "another digest"],
)
def test_an_override_that_drops_a_digest(overrider: Data, drops: bool) -> None:
    web = workload()
    selector = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}
    rules = [{"targetCluster": {"clusterNames": ["b"]}, "overriders": overrider}]
    spec = {"resourceSelectors": [selector], "overrideRules": rules}
    override = named(POLICY, "OverridePolicy", "o", spec=spec)
    problems = found([*FLEET, *placed(web, "a", "b"), override])
    assert [problem.subject for problem in problems] == (
        ["OverridePolicy default/o"] if drops else []
    )
    assert all("of Deployment default/web on b" in problem.what for problem in problems)
    assert not found([*FLEET, *placed(web, "a", "b"), override], SkippableCheck.DIGESTS)


def test_a_check_that_there_is_not() -> None:
    with pytest.raises(FleetError) as refused:
        planned(
            [*FLEET, *placed(workload(), "a")], options=Options(skip_checks=frozenset({"digest"}))
        )
    (problem,) = refused.value.problems
    assert (problem.what, problem.hint) == ('there is no check "digest"', 'did you mean "digests"?')


CLUSTERS = st.sets(st.sampled_from("ab"), min_size=1)


@given(CLUSTERS, CLUSTERS)
def test_a_warning_names_exactly_the_members_that_lack_something(
    web: set[str], conf: set[str]
) -> None:
    documents = [*FLEET, *placed(workload(**FROM_CONF), *web), *placed(config(), *conf)]
    lacking = ", ".join(sorted(web - conf))
    words = [f"needs ConfigMap default/conf, which does not go to {lacking}"] if lacking else []
    assert [problem.what for problem in found(documents)] == words


def misfitting() -> Data:
    web = workload(
        foo=1,
        containers=[{"name": "web", "image": "web", "env": [{"name": "PORT", "value": 8080}]}],
    )
    web["spec"]["replicas"] = 2
    return web


def test_a_field_that_no_api_server_takes() -> None:
    plan = planned([*FLEET, *placed(misfitting(), "a", "b")])
    warned = {show_path(problem.path): problem.what for problem in plan.warnings}
    pod = "spec.template.spec"
    assert (
        warned[f"{pod}.containers[0].env[0].value"]
        == "expected string, got integer: a, b refuse it"
    )
    assert warned[f"{pod}.foo"] == "field not declared in schema: a, b refuse it"
    skipped = planned(
        [*FLEET, *placed(misfitting(), "a")],
        options=Options(skip_checks=frozenset({SkippableCheck.STRUCTURE})),
    )
    assert not [problem for problem in skipped.warnings if problem.path]


def override(value: Any, path: str) -> Data:
    """An override policy for ``b`` alone."""
    selector = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}
    patch = {"path": path, "operator": "add", "value": value}
    rules = [{"targetCluster": {"clusterNames": ["b"]}, "overriders": {"plaintext": [patch]}}]
    spec = {"resourceSelectors": [selector], "overrideRules": rules}
    return named(POLICY, "OverridePolicy", "o", spec=spec)


@pytest.mark.parametrize(
    ("value", "held"),
    [({"bad": "bad1"}, True), ([{"name": "good", "value": "1"}], False), (None, False)],
)
def test_an_override_that_makes_what_no_api_server_takes(value: Any, held: bool) -> None:
    """Its member is held, and the others go on."""
    path = "/spec/template/spec/containers/0/env"
    plan = planned([*FLEET, *placed(workload(), "a", "b"), override(value, path)])
    (decided,) = plan.subjects
    assert (decided.entries["b"].change is Change.HELD) is held
    assert decided.entries["a"].change is Change.ADD
    words = "spec.template.spec.containers[0].env: expected list, got map"
    assert (words in str(decided.entries["b"].reason)) is held


def test_an_override_of_what_no_api_server_takes_anyway() -> None:
    """What is wrong in the source is not the fault of a rule."""
    path = "/spec/template/metadata/annotations"
    plan = planned([*FLEET, *placed(misfitting(), "a", "b"), override({"k": "v"}, path)])
    (decided,) = plan.subjects
    assert decided.entries["b"].change is Change.ADD


RETIRED = {
    ("policy/v1beta1", "PodDisruptionBudget"): ("1.25", "write apiVersion: policy/v1"),
    ("extensions/v1beta1", "Ingress"): ("1.22", "write apiVersion: networking.k8s.io/v1"),
    ("autoscaling/v2beta2", "HorizontalPodAutoscaler"): (
        "1.26",
        "write apiVersion: autoscaling/v2",
    ),
    ("flowcontrol.apiserver.k8s.io/v1beta3", "FlowSchema"): (
        "1.32",
        "write apiVersion: flowcontrol.apiserver.k8s.io/v1",
    ),
    ("policy/v1beta1", "PodSecurityPolicy"): (
        "1.25",
        "label the Namespace for Pod Security Admission instead",
    ),
}


@pytest.mark.parametrize(("kind", "said"), RETIRED.items())
def test_versions_that_are_served_no_more(kind: tuple[str, str], said: tuple[str, str]) -> None:
    known = retired(Manifest(named(*kind, "x")))
    assert known is not None
    assert (known.release, known.hint) == said


def test_an_object_of_a_version_that_is_served_no_more() -> None:
    documents = [*FLEET, *placed(named("policy/v1beta1", "PodDisruptionBudget", "x"), "a")]
    (problem,) = found(documents)
    what = "Kubernetes 1.25 and later do not serve policy/v1beta1 PodDisruptionBudget; it goes to a"
    assert (problem.what, problem.path) == (what, ("apiVersion",))
    assert problem.hint.startswith("write apiVersion: policy/v1; ")
    assert not found(documents, SkippableCheck.VERSIONS)


def test_versions_that_are_served_are_not_retired() -> None:
    for data in objects_of_every_type():
        assert retired(Manifest(data)) is None
