"""Observation of members that answer, refuse, are slow or are silent."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import pytest

from fleet_components.live.asked_objects import WantedObject, observe
from fleet_components.model.observed import FieldDifference, ObservedMember, ObservedObject
from fleet_components.plan.apply_mode import ApplyMode
from tests.live.api_server import CANARY, Answer, Api, api_server, hangs, path_of, send

MANAGER, SOMEBODY = "fleet-components/organization/shop/dev", "kubectl-edit"
POD = {
    "metadata": {"name": "web-1"},
    "status": {
        "conditions": [{"type": "Ready", "status": "False"}],
        "containerStatuses": [
            {
                "name": "web",
                "restartCount": 7,
                "state": {"waiting": {"reason": "CrashLoopBackOff", "message": "back-off 5m0s"}},
                "lastState": {"terminated": {"exitCode": 137, "reason": "OOMKilled"}},
            }
        ],
    },
}


@pytest.fixture
def api(monkeypatch: pytest.MonkeyPatch) -> Iterator[Api]:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with api_server() as found:
        found.objects["/api/v1/namespaces/shop"] = {"metadata": {"name": "shop"}}
        yield found


def thing(kind: str = "ConfigMap", api: str = "v1", **fields: Any) -> dict[str, Any]:
    return {
        "apiVersion": api,
        "kind": kind,
        "metadata": {"name": "it", "namespace": "shop"},
        **fields,
    }


def web(**spec: Any) -> dict[str, Any]:
    containers = [{"name": "web", "image": "web:1"}]
    return thing(
        "Deployment", "apps/v1", spec={"template": {"spec": {"containers": containers}}, **spec}
    )


def asked(api: Api, *wanted: dict[str, Any], timeout: float = 30, **mode: Any) -> ObservedMember:
    objects = [WantedObject(data, ApplyMode(**mode), MANAGER, causes=True) for data in wanted]
    return observe({"x": api.kubeconfig()}, {"x": objects}, timeout=timeout)["x"]


def only(api: Api, data: dict[str, Any], **mode: Any) -> ObservedObject:
    member = asked(api, data, **mode)
    assert not member.unreached
    (item,) = member.objects.values()
    return item


def refuses(code: int, message: str) -> Answer:
    return lambda request: send(request, code, {"kind": "Status", "message": message})


def test_what_was_sent_and_defaults_do_not_differ(api: Api) -> None:
    api.defaults["Deployment"] = {"spec": {"replicas": 1}}
    api.apply(web(), MANAGER)
    for full in (False, True):
        assert only(api, web(), full=full).differences == ()
    assert {method for method, _ in api.asked} == {"GET", "PATCH", "POST"}
    assert all("dryRun=All" in path for method, path in api.asked if method != "GET")


def test_what_somebody_changed_added_and_removed(api: Api) -> None:
    api.apply(thing(data={"a": "1", "b": "2", "gone": "3"}), MANAGER)
    api.apply(thing(data={"a": "changed", "by": "hand"}), SOMEBODY)
    del api.objects[path_of(thing())]["data"]["b"]
    changed = [FieldDifference("/data/a", "1", "changed"), FieldDifference("/data/b", "2")]
    gone = FieldDifference("/data/gone", None, "3")
    sent = thing(data={"a": "1", "b": "2"})
    assert only(api, sent).differences == (*changed, gone)
    assert only(api, sent, full=True).differences == (
        *changed,
        FieldDifference("/data/by", None, "hand"),
        gone,
    )
    conflict = only(api, sent, forces=False)
    assert (conflict.applied, conflict.error) == (
        "ManifestApplyFailed",
        f'Apply failed with 1 conflict: conflict with "{SOMEBODY}": .data.a',
    )


def test_a_full_comparison_leaves_out_what_nobody_manages(api: Api) -> None:
    """As an address that the API server gave: a trial under another name gets another one."""
    api.defaults["Service"] = {"spec": {"clusterIP": "10.0.0.0"}}
    service = thing("Service", spec={"type": "ClusterIP"})
    api.apply(service, MANAGER)
    api.objects[path_of(service)]["spec"]["clusterIP"] = "10.0.0.7"
    assert only(api, service, full=True).differences == ()
    api.apply(thing("Service", spec={"sessionAffinity": "ClientIP"}), SOMEBODY)
    assert [difference.path for difference in only(api, service, full=True).differences] == [
        "/spec/sessionAffinity"
    ]


def test_items_of_lists_are_told_apart_by_name(api: Api) -> None:
    api.apply(web(), MANAGER)
    sidecar = {"name": "sidecar", "image": "proxy:1"}
    api.apply(
        thing("Deployment", "apps/v1", spec={"template": {"spec": {"containers": [sidecar]}}}),
        SOMEBODY,
    )
    assert only(api, web()).differences == ()
    (added,) = only(api, web(), full=True).differences
    assert added == FieldDifference(
        "/spec/template/spec/containers/1", None, "map[image:proxy:1 name:sidecar]"
    )


def test_a_secret_shows_neither_what_is_wanted_nor_what_is_there(api: Api) -> None:
    api.apply(thing("Secret", data={"a": CANARY}), MANAGER)
    api.apply(thing("Secret", data={"a": CANARY[::-1]}), SOMEBODY)
    told = only(api, thing("Secret", data={"a": CANARY}))
    assert [difference.path for difference in told.differences] == ["/data/a"]
    api.answers["PATCH"] = refuses(422, f"data: Invalid value: {CANARY}")
    refused = only(api, thing("Secret", data={"a": CANARY}))
    assert refused.error == "refuses with 422 Unprocessable Entity"
    assert CANARY not in f"{told} {refused}"
    assert CANARY[::-1] not in f"{told} {refused}"


@pytest.mark.parametrize(
    ("code", "said", "compared"),
    [
        (422, "spec.selector: field is immutable", "FoundDiffInDegradedMode"),
        (403, "user may not patch", "FailedToReportDiff"),
        (500, "a webhook failed", "FailedToReportDiff"),
    ],
)
def test_what_is_refused_says_why(api: Api, code: int, said: str, compared: str) -> None:
    api.apply(thing(data={"a": "2"}), SOMEBODY)
    api.answers["PATCH"] = refuses(code, said)
    reported = only(api, thing(data={"a": "1"}), reports=True)
    assert (reported.error, reported.compared) == (said, compared)
    assert only(api, thing(data={"a": "1"})).applied == "ManifestApplyFailed"


def test_one_that_may_not_be_read_does_not_keep_the_others(api: Api) -> None:
    secret = thing("Secret", data={"a": CANARY})
    api.answers[path_of(secret)] = refuses(403, "secrets is forbidden")
    seen = asked(api, secret, thing(data={"a": "1"}))
    assert [data.error for data in seen.objects.values()] == ["refuses with 403 Forbidden", ""]
    assert [data.differences for data in seen.objects.values()] == [
        (),
        (FieldDifference("/", "(the whole object)"),),
    ]


def test_why_a_workload_is_not_ready(api: Api) -> None:
    wanted = web(selector={"matchLabels": {"app": "web"}})
    api.apply(wanted, MANAGER)
    api.objects[path_of(wanted)]["status"] = {
        "conditions": [
            {"type": "Progressing", "status": "False", "reason": "Slow", "message": "timed out"}
        ]
    }
    space = "/api/v1/namespaces/shop"
    api.objects[f"{space}/pods"] = {"items": [POD]}
    event = {
        "involvedObject": {"name": "web-1"},
        "message": "Failed\x1b[31m probe",
        "lastTimestamp": "2026",
    }
    other = {"involvedObject": {"name": "another"}, "message": "of another"}
    api.objects[f"{space}/events"] = {"items": [other, event]}
    seen = only(api, wanted)
    assert seen.available == "ManifestNotAvailableYet"
    assert seen.causes == (
        "Slow: timed out",
        "pod web-1: container web: CrashLoopBackOff: back-off 5m0s, ended with 137 (OOMKilled), 7 restarts",
        r"Failed\x1b[31m probe",
    )
    api.answers[f"{space}/pods"] = refuses(403, "pods is forbidden")
    assert only(api, wanted).causes == ("pods is forbidden",)


@pytest.mark.long
@pytest.mark.parametrize(
    ("finalizers", "words"),
    [(["example.com/held"], "; its finalizers: example.com/held"), ([], "")],
)
def test_an_object_that_is_being_deleted(api: Api, finalizers: list[str], words: str) -> None:
    """It is only read, and says since when it is being deleted, and what holds it."""
    api.apply(thing(), MANAGER)
    since = "2026-11-28T09:00:00Z"
    deleted = {"deletionTimestamp": since, "finalizers": finalizers}
    asked_for = WantedObject(thing(), ApplyMode(), MANAGER, leaving=True)

    def found() -> ObservedObject:
        answer = observe({"x": api.kubeconfig()}, {"x": [asked_for]})
        return next(iter(answer["x"].objects.values()))

    api.asked.clear()
    assert (found().leaving, found().causes) == (True, ())
    api.objects[path_of(thing())]["metadata"] |= deleted
    assert found().causes == (f"is being deleted since {since}{words}",)
    del api.objects[path_of(thing())]
    assert (found().leaving, found().causes, found().absent) == (True, (), True)
    assert {method for method, _ in api.asked} == {"GET"}


def test_members_are_asked_at_once_and_each_has_its_own_time(api: Api) -> None:
    wanted = thing(data={"a": "1"})
    with api_server() as silent:
        silent.answers["GET"] = hangs(silent)
        texts = {
            **{f"m{n}": silent.kubeconfig() for n in range(8)},
            "well": api.kubeconfig(),
            "none": CANARY,
        }
        began = time.monotonic()
        item = WantedObject(wanted, ApplyMode(), MANAGER)
        seen = observe(texts, {name: [item] for name in texts}, timeout=5)
        took = time.monotonic() - began
    assert took < 8 * 5, "one after the other they take longer"
    assert not seen["well"].unreached
    assert list(seen) == list(texts)
    assert {seen[f"m{n}"].unreached for n in range(8)} == {
        "does not answer in 5 s, or not as Kubernetes does"
    }
    assert "its kubeconfig or its credential plugin does not work" in seen["none"].unreached
    assert CANARY not in repr(seen)
