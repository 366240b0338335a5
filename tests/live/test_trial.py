"""The new form of an object is tried before the old one goes: what counts as a refusal, and what does not."""

from __future__ import annotations

from typing import Any

import pytest

from fleet_components.live.asked_objects import WantedObject
from fleet_components.live.trial import FormTrial, try_all
from fleet_components.model.manifest import Manifest
from fleet_components.model.observed import SILENT
from fleet_components.plan.apply_mode import ABORTS, ApplyMode
from tests.live.api_server import CANARY, Api, api_server, closes, hangs, path_of, send

UID = "0a1b2c3d-0000"
# What takes long is loaded before anything is timed.
pytest.importorskip("lightkube.config.client_adapter")


@pytest.fixture
def api(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with api_server() as found:
        found.objects["/api/v1/namespaces/shop"] = {"metadata": {"uid": "n"}}
        allows(found, "web", "web-0a1b2")
        yield found


def thing(kind: str, name: str = "web", **fields: Any) -> dict[str, Any]:
    version = "apps/v1" if kind in ("Deployment", "StatefulSet") else "v1"
    return {
        "apiVersion": version,
        "kind": kind,
        "metadata": {"name": name, "namespace": "shop"},
        **fields,
    }


def allows(api: Api, *names: str) -> None:
    """Let the user write objects of these names only."""

    def answer(request: Any) -> None:
        asked = api.bodies[-1]["spec"]["resourceAttributes"]
        send(request, 201, {"status": {"allowed": asked["name"] in names}})

    api.answers["POST /apis/authorization.k8s.io/v1/selfsubjectaccessreviews"] = answer


def stands(api: Api, data: dict[str, Any]) -> None:
    api.objects[path_of(data)] = {**data, "metadata": {**data["metadata"], "uid": UID}}


def trial(
    api: Api, data: dict[str, Any], mode: ApplyMode = ApplyMode(), timeout: float = 60.0
) -> FormTrial:
    found = try_all(api.kubeconfig(), [WantedObject(data, mode, "me")], timeout=timeout)
    assert not api.deleted
    return found[Manifest(data).key]


def answers(api: Api, status: int, **body: Any) -> None:
    for method in ("PATCH", "POST"):
        api.answers[method] = lambda request: send(request, status, {"kind": "Status", **body})


def test_it_is_tried_beside_the_old_one_and_writes_nothing(api: Api) -> None:
    data = thing("ConfigMap", data={"k": "two"})
    stands(api, thing("ConfigMap", data={"k": "one"}))
    before = dict(api.objects)
    assert trial(api, data) == FormTrial(uid=UID)
    method, path = api.asked[-1]
    assert (method, path.partition("?")[0]) == (
        "PATCH",
        "/api/v1/namespaces/shop/configmaps/web-0a1b2",
    )
    assert "dryRun=All" in path
    assert api.objects == before


def test_it_is_tried_as_it_is_created(api: Api) -> None:
    """A provider that takes nothing over creates."""
    stands(api, thing("ConfigMap"))
    assert trial(api, thing("ConfigMap"), ABORTS) == FormTrial(uid=UID)
    assert api.asked[-1][0] == "POST"


def test_where_nothing_stands_it_is_tried_under_its_own_name(api: Api) -> None:
    assert trial(api, thing("ConfigMap")) == FormTrial()
    assert api.asked[-1][1].startswith("/api/v1/namespaces/shop/configmaps/web?")


@pytest.mark.parametrize("name", ["w" * 63, f"{'w' * 39}.x", f"{'w' * 39}-x", "w"])
def test_the_other_name_is_a_name(api: Api, name: str) -> None:
    stands(api, thing("ConfigMap", name))
    assert trial(api, thing("ConfigMap", name)) == FormTrial(uid=UID)
    tried = api.bodies[-1]["metadata"]["name"]
    assert tried != name
    assert len(tried) <= 52
    assert not {".-", "--"} & {tried[index : index + 2] for index in range(len(tried))}


@pytest.mark.parametrize("status", [400, 403, 405, 413, 422, 500])
def test_a_refusal_has_the_words_of_the_api_server(api: Api, status: int) -> None:
    stands(api, thing("ConfigMap"))
    answers(api, status, message="not like this")
    assert trial(api, thing("ConfigMap")) == FormTrial(refused="not like this", uid=UID)


@pytest.mark.parametrize("status", [401, 404, 408, 409, 429, 502, 503, 504])
def test_no_decision_is_no_refusal(api: Api, status: int) -> None:
    stands(api, thing("ConfigMap"))
    answers(api, status, message="not now")
    found = trial(api, thing("ConfigMap"))
    assert not found.refused
    assert str(status) in found.unchecked


def test_of_secrets_the_status_alone_is_told(api: Api) -> None:
    stands(api, thing("Secret"))
    for status in (403, 422, 500):
        answers(api, status, message=f"{CANARY} is no good")
        found = trial(api, thing("Secret", data={"k": CANARY}))
        assert CANARY not in str(found)
        assert str(status) in found.refused


@pytest.mark.parametrize(
    ("fields", "refused"),
    [(["metadata.name"], False), (["metadata.name", "spec"], True), ([], True)],
)
def test_a_refusal_of_the_other_name_alone_says_nothing(
    api: Api, fields: list[str], refused: bool
) -> None:
    stands(api, thing("ConfigMap"))
    answers(api, 422, message="Invalid", details={"causes": [{"field": field} for field in fields]})
    found = trial(api, thing("ConfigMap"))
    assert (bool(found.refused), bool(found.unchecked)) == (refused, not refused)


@pytest.mark.parametrize(
    ("effects", "refused"),
    [("None", True), ("NoneOnDryRun", True), ("Unknown", False), ("Some", False)],
)
def test_a_webhook_without_dry_runs(api: Api, effects: str, refused: bool) -> None:
    stands(api, thing("ConfigMap"))
    answers(api, 400, message="admission webhook does not support dry run")
    root = "/apis/admissionregistration.k8s.io/v1"
    api.objects["/apis"]["groups"].append(
        {"name": "admissionregistration.k8s.io", "versions": [{"version": "v1"}]}
    )
    kinds = ("MutatingWebhookConfiguration", "ValidatingWebhookConfiguration")
    names = [f"{kind.lower()}s" for kind in kinds]
    listed = zip(names, kinds, strict=True)
    api.objects[root] = {
        "resources": [{"name": name, "kind": kind, "namespaced": False} for name, kind in listed]
    }
    api.lists |= {f"{root}/{name}": [] for name in names}
    api.lists[f"{root}/{names[1]}"] = [
        {"webhooks": [{"name": "old.example.com", "sideEffects": effects}]}
    ]
    found = trial(api, thing("ConfigMap"))
    assert (bool(found.refused), "old.example.com" in found.unchecked) == (refused, not refused)


def test_a_kind_that_is_not_served_yet(api: Api) -> None:
    data = {**thing("ConfigMap"), "apiVersion": "example.com/v1", "kind": "Widget"}
    assert "does not serve example.com/v1 Widget" in trial(api, data).unchecked


@pytest.mark.parametrize("answer", [hangs, lambda _: closes], ids=["hangs", "closes"])
def test_no_answer(api: Api, answer: Any) -> None:
    stands(api, thing("ConfigMap"))
    api.answers["PATCH"] = answer(api)
    found = trial(api, thing("ConfigMap"), timeout=3.0)
    assert found == FormTrial(unchecked=SILENT)


def test_a_kubeconfig_that_does_not_work() -> None:
    found = try_all("nothing", [WantedObject(thing("ConfigMap"), ApplyMode(), "me")], timeout=0.5)
    (only,) = found.values()
    assert only == FormTrial(unchecked="its kubeconfig or its credential plugin does not work")


NODE_PORTS = {"type": "NodePort", "clusterIP": "10.0.0.5", "clusterIPs": ["10.0.0.5"]}


@pytest.mark.parametrize(
    ("now", "sent", "held"),
    [
        ({"clusterIP": "None"}, {"clusterIP": "None"}, ""),
        ({"clusterIP": "10.0.0.6"}, {"clusterIP": "10.0.0.6"}, ""),
        ({"clusterIP": "10.0.0.5"}, {}, "spec.clusterIP"),
        ({"clusterIPs": ["10.0.0.5", "fd::1"]}, {}, "spec.clusterIPs"),
        (
            {"ports": [{"port": 1, "nodePort": 30001}, {"port": 2, "nodePort": 30002}]},
            {"ports": [{"port": 1}, {"port": 2, "nodePort": 30002}]},
            "spec.ports.0.nodePort",
        ),
        ({"healthCheckNodePort": 30009}, {}, "spec.healthCheckNodePort"),
    ],
)
def test_what_the_old_service_holds_is_left_out(api: Api, now: Any, sent: Any, held: str) -> None:
    old = {**NODE_PORTS, "ports": [{"port": 1, "nodePort": 30001}], "healthCheckNodePort": 30009}
    stands(api, thing("Service", spec=old))
    found = trial(api, thing("Service", spec=now))
    assert api.bodies[-1]["spec"] == sent
    assert found == FormTrial(unchecked=f"the object itself holds {held}" if held else "", uid=UID)


def test_a_definition_is_called_by_its_plural_and_its_group(api: Api) -> None:
    root = "/apis/apiextensions.k8s.io/v1"
    api.objects["/apis"]["groups"].append(
        {"name": "apiextensions.k8s.io", "versions": [{"version": "v1"}]}
    )
    kind, plural = "CustomResourceDefinition", "customresourcedefinitions"
    api.objects[root] = {"resources": [{"name": plural, "kind": kind, "namespaced": False}]}
    spec = {"group": "example.com", "names": {"plural": "widgets", "kind": "Widget"}}
    name = "widgets.example.com"
    data = {"apiVersion": root[6:], "kind": kind, "metadata": {"name": name}, "spec": spec}
    api.objects[f"{root}/{plural}/{name}"] = {**data, "metadata": {"name": name, "uid": UID}}
    assert trial(api, data) == FormTrial(uid=UID)
    tried = api.bodies[-1]
    assert tried["metadata"]["name"] == "widgets0a1b2.example.com"
    assert tried["spec"]["names"] == {"plural": "widgets0a1b2", "kind": "Widget"}


def claim(size: str) -> dict[str, Any]:
    return thing("PersistentVolumeClaim", spec={"resources": {"requests": {"storage": size}}})


@pytest.mark.parametrize(
    ("hard", "used", "size", "refused"),
    [
        ({"persistentvolumeclaims": "1"}, {"persistentvolumeclaims": "1"}, "1Gi", False),
        (
            {"count/persistentvolumeclaims": "2"},
            {"count/persistentvolumeclaims": "2"},
            "1Gi",
            False,
        ),
        ({"requests.storage": "3Gi"}, {"requests.storage": "1Gi"}, "3Gi", False),
        ({"requests.storage": "3Gi"}, {"requests.storage": "1Gi"}, "4Gi", True),
        (
            {"requests.storage": "3Gi", "persistentvolumeclaims": "1"},
            {"requests.storage": "1Gi", "persistentvolumeclaims": "1"},
            "4Gi",
            True,
        ),
        # There is room, so that it is something else that refuses it.
        ({"requests.storage": "30Gi"}, {"requests.storage": "1Gi"}, "3Gi", True),
        ({"pods": "1"}, {"pods": "1"}, "3Gi", True),
    ],
)
def test_a_quota_that_the_old_one_holds(
    api: Api, hard: Any, used: Any, size: str, refused: bool
) -> None:
    api.objects["/api/v1"]["resources"].append(
        {"name": "persistentvolumeclaims", "kind": "PersistentVolumeClaim", "namespaced": True}
    )
    stands(api, claim("1Gi"))
    quota = {"metadata": {"name": "tight"}, "status": {"hard": hard, "used": used}}
    api.objects["/api/v1/namespaces/shop/resourcequotas"] = {"items": [quota]}
    answers(api, 403, message="exceeded", details={"kind": "persistentvolumeclaims", "name": "web"})
    found = trial(api, claim(size))
    assert (found.refused, "tight" in found.unchecked) == (
        "exceeded" if refused else "",
        not refused,
    )


def test_a_webhook_that_denies_is_no_quota(api: Api) -> None:
    stands(api, thing("ConfigMap"))
    quota = {
        "status": {"hard": {"configmaps": "1"}, "used": {"configmaps": "1"}},
        "metadata": {"name": "tight"},
    }
    api.objects["/api/v1/namespaces/shop/resourcequotas"] = {"items": [quota]}
    answers(api, 403, message='admission webhook "x" denied the request')
    assert trial(api, thing("ConfigMap")).refused


@pytest.mark.parametrize(
    ("names", "refused"), [(["web"], False), (["web", "web-0a1b2"], True), ([], True)]
)
def test_a_user_who_may_write_certain_names_only(api: Api, names: list[str], refused: bool) -> None:
    stands(api, thing("ConfigMap"))
    answers(api, 403, message="may not", details={"kind": "configmaps", "name": "web-0a1b2"})
    allows(api, *names)
    found = trial(api, thing("ConfigMap"))
    assert (bool(found.refused), "another name" in found.unchecked) == (refused, not refused)
