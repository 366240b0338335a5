"""A member that repeats what it was sent: neither its token nor the data of a Secret is shown, however it is written."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterator, Mapping
from http.server import BaseHTTPRequestHandler
from typing import Any
from urllib.parse import quote

import attrs
import pytest

from fleet_components.live.asked_objects import WantedObject, observe
from fleet_components.live.hub import ask_hub
from fleet_components.live.marks import connecting
from fleet_components.live.trial import try_all
from fleet_components.model.problem import FleetError
from fleet_components.plan.apply_mode import OVERWRITES, ApplyMode
from tests.live.api_server import Answer, Api, api_server, path_of, send

TOKEN = "sha256~S/W+ORDFISH_cAnArY7q3Zr9.sIgNaTuRe-x"
PIN = "hunter2-of-the-shop"
METADATA = {"name": "a", "namespace": "shop"}
MAP: dict[str, Any] = {
    "apiVersion": "v1",
    "kind": "ConfigMap",
    "metadata": METADATA,
    "data": {"k": "v"},
}
SECRET: dict[str, Any] = {
    "apiVersion": "v1",
    "kind": "Secret",
    "metadata": METADATA,
    "data": {"pin": base64.b64encode(PIN.encode()).decode()},
}
WEB: dict[str, Any] = {
    "apiVersion": "apps/v1",
    "kind": "Deployment",
    "metadata": METADATA,
    "spec": {"replicas": 1, "selector": {"matchLabels": {"app": "web"}}},
}


def _base64(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


WRITTEN: Mapping[str, Callable[[str], str]] = {
    "plain": str,
    "as a header": lambda token: f"Authorization: Bearer {token}",
    "in base64": _base64,
    "in base64 behind a letter": lambda token: _base64(f"x{token}"),
    "in base64 behind two letters": lambda token: _base64(f"xy{token}"),
    "in base64 of URLs": lambda token: base64.urlsafe_b64encode(
        f"Bearer {token}".encode()
    ).decode(),
    "in base64, quoted": lambda token: quote(_base64(token), safe=""),
    "quoted": lambda token: quote(token, safe=""),
    "quoted but for slashes": quote,
    "in hexadecimals": lambda token: token.encode().hex(),
    "its signature": lambda token: token.rpartition(".")[2],
}
ESCAPED = "".join(f"\\u{ord(sign):04x}" for sign in TOKEN)


def refuses(code: int, message: str) -> Answer:
    return lambda request: send(request, code, {"kind": "Status", "message": message})


@pytest.fixture
def api(monkeypatch: pytest.MonkeyPatch) -> Iterator[Api]:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with api_server() as found:
        found.put("/api/v1/namespaces/shop", None)
        yield found


def _live(data: Mapping[str, Any], /, **more: Any) -> dict[str, Any]:
    metadata = {**data["metadata"], "uid": "5f3c-1", "generation": 1, **more.pop("metadata", {})}
    return {**data, **more, "metadata": metadata}


def _workload(api: Api, **status: Any) -> None:
    api.objects[path_of(WEB)] = _live(WEB, status=status)
    api.answers["PATCH"] = lambda request: send(request, 200, api.objects[path_of(WEB)])


def _pods(api: Api, echo: str) -> None:
    _workload(api)
    waiting = {"name": echo, "state": {"waiting": {"reason": echo, "message": echo}}}
    pod = {"metadata": {"name": echo}, "status": {"containerStatuses": [waiting]}}
    api.objects["/api/v1/namespaces/shop/pods"] = {"items": [pod]}


def _events(api: Api, echo: str) -> None:
    _workload(api)
    api.objects["/api/v1/namespaces/shop/events"] = {
        "items": [{"involvedObject": {"name": "a"}, "message": echo}]
    }


def _refused(method: str, code: int) -> Callable[[Api, str], None]:
    return lambda api, echo: api.answers.update({method: refuses(code, echo)})


def _in_object(
    data: Mapping[str, Any], change: Callable[[str], Mapping[str, Any]]
) -> Callable[[Api, str], None]:
    return lambda api, echo: api.objects.update({path_of(dict(data)): _live(data, **change(echo))})


SAYS: Mapping[str, Callable[[Api, str], None]] = {
    **{f"refusing {method} with {code}": _refused(method, code) for method in ("GET", "PATCH", "POST") for code in (400, 403, 409, 422, 500)},
    "a value": _in_object(MAP, lambda echo: {"data": {"k": echo}}),
    "a key": _in_object(MAP, lambda echo: {"data": {"k": "v", echo: "x"}}),
    "an annotation": _in_object(MAP, lambda echo: {"metadata": {"annotations": {"a": echo}}}),
    "a finalizer": _in_object(MAP, lambda echo: {"metadata": {"finalizers": [echo], "deletionTimestamp": echo}}),
    "a uid": _in_object(MAP, lambda echo: {"metadata": {"uid": echo}}),
    "a field that nobody knows": _in_object(MAP, lambda echo: {echo: [{"a": echo}]}),
    "a condition": lambda api, echo: _workload(
        api, conditions=[{"type": "Available", "status": "False", "reason": echo, "message": echo}]
    ),
    "a pod": _pods,
    "an event": _events,
    "a kind": lambda api, echo: api.answers.update({"/apis": lambda request: send(request, 200, {"groups": [{"name": echo, "versions": [{"version": echo}]}]})}),
}  # fmt: skip


def told(text: str, *sent: Mapping[str, Any]) -> str:
    """All that comes of asking, by each door, with what is no part of a representation."""
    wanted = [WantedObject(data, OVERWRITES, "m", causes=True) for data in sent]
    wanted += [WantedObject(data, ApplyMode(full=True), "m") for data in sent]
    found: list[object] = []
    for item in (*wanted, WantedObject(sent[0], OVERWRITES, "m", leaving=True)):
        for answer in observe({"a": text}, {"a": [item]}, timeout=60)["a"].objects.values():
            # The data of a Secret is in what the member has, and not shown.
            found.append(answer if SECRET in sent else attrs.asdict(answer))
    found += [
        attrs.asdict(item) for item in try_all(text, wanted[: len(sent)], timeout=60).values()
    ]
    return str(found)


def told_by_hub(text: str) -> str:
    found: list[object] = []
    try:
        found += connecting(text, "hub", lambda hub: hub.items("", "ConfigMap"), timeout=60)
        listing = ask_hub(text, timeout=60)
        found += [*map(str, listing.refused.values()), *str(listing.answers)]
    except FleetError as error:
        found.append(str(error))
    return str(found)


CELLS = [(says, "plain") for says in SAYS] + [("a value", form) for form in WRITTEN]


@pytest.mark.samples(12)
@pytest.mark.parametrize(("field", "form"), CELLS)
def test_no_token_comes_back(api: Api, field: str, form: str) -> None:
    says, said = SAYS[field], WRITTEN[form](TOKEN)
    says(api, f"before {said} behind")
    text = api.kubeconfig({"token": TOKEN})
    shown = told(text, MAP, WEB) + told_by_hub(text)
    assert said not in shown
    assert TOKEN not in shown


def test_no_token_comes_back_as_json_escapes_it(api: Api) -> None:
    def answer(request: BaseHTTPRequestHandler) -> None:
        body = (
            json.dumps(_live(MAP, data={"k": "HERE"})).replace("HERE", f"a\\\\{ESCAPED}").encode()
        )
        request.send_response(200)
        request.send_header("Content-Length", str(len(body)))
        request.end_headers()
        request.wfile.write(body)

    api.answers[path_of(MAP)] = answer
    shown = told(api.kubeconfig({"token": TOKEN}), MAP)
    assert TOKEN not in shown
    assert r"a\\[hidden]" in shown


def test_no_password_comes_back(api: Api) -> None:
    for said in ("SWORDFISH", "me:SWORDFISH", _base64("me:SWORDFISH")):
        api.answers["PATCH"] = refuses(422, f"before {said} behind")
        assert said not in told(api.kubeconfig({"username": "me", "password": "SWORDFISH"}), MAP)


@pytest.mark.samples(4)
@pytest.mark.parametrize("code", [400, 403, 409, 422, 500])
@pytest.mark.parametrize("method", ["GET", "PATCH", "POST"])
def test_of_a_secret_the_status_alone_is_told(api: Api, method: str, code: int) -> None:
    api.objects[path_of(SECRET)] = _live(SECRET)
    for said in (f'a webhook denies "{PIN}"', "a webhook denies it: x", SECRET["data"]["pin"]):
        api.answers = {method: refuses(code, said)}
        assert said not in told(api.kubeconfig(), SECRET)


OF_SECRETS: Mapping[str, dict[str, Any]] = {
    "an annotation": {"metadata": {"annotations": {"a": PIN}}},
    "a label": {"metadata": {"labels": {"a": PIN}}},
    "another field": {"extra": {"a": PIN}},
    "another field of another kind": {"kind": "Secrets", "extra": {"a": PIN}, "data": {"k": PIN}},
}


@pytest.mark.parametrize("change", OF_SECRETS.values(), ids=OF_SECRETS)
def test_a_secret_that_a_member_has_otherwise_is_not_shown(
    api: Api, change: dict[str, Any]
) -> None:
    api.objects[path_of(SECRET)] = _live(SECRET, **change)
    wanted = WantedObject(SECRET, ApplyMode(full=True), "m")
    (found,) = observe({"a": api.kubeconfig()}, {"a": [wanted]}, timeout=60)["a"].objects.values()
    assert found.differences
    assert PIN not in str(found)


def test_a_secret_is_not_quoted_beside_another_object(api: Api) -> None:
    api.answers[path_of(MAP)] = refuses(403, f"denied: {PIN} is not the pin")
    wanted = [WantedObject(item, OVERWRITES, "m") for item in (SECRET, MAP)]
    found = observe({"a": api.kubeconfig()}, {"a": wanted}, timeout=60)["a"]
    assert "denied: [hidden] is not the pin" in str(found)
    assert PIN not in str(found)


@pytest.mark.parametrize("said", [PIN, SECRET["data"]["pin"], f"{PIN}-x"])
def test_a_secret_is_in_no_status_of_another_object(api: Api, said: str) -> None:
    conditions = [
        {"type": "Ready", "status": "False", "message": f"denied: {said}", said: [{"a": said}]}
    ]
    _workload(api, conditions=conditions, observedGeneration=1)
    wanted = [WantedObject(item, OVERWRITES, "m") for item in (SECRET, WEB)]
    (*_, web) = observe({"a": api.kubeconfig()}, {"a": wanted}, timeout=60)["a"].objects.values()
    assert web.status is not None
    assert "denied: [hidden]" in str(web.status)
    assert said not in str(web.status)


def test_names_and_digests_in_words_of_a_member_stay(api: Api) -> None:
    digest = "sha256:" + "0123456789abcdef" * 4
    said = f"pod kube-prometheus-stack-prometheus-node-exporter-7d4b9 cannot pull web@{digest}"
    api.answers["PATCH"] = refuses(422, said)
    assert said in told(api.kubeconfig(), MAP)
