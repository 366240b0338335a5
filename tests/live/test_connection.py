"""A member cluster that is asked directly: what it is, and what was left behind there."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import attrs
import pytest
import yaml
from lightkube import KubeConfig

from fleet_components.content.stamp import FOUND, FOUND_ANNOTATION
from fleet_components.live.connection import Leftover, ask_cluster, delete_leftovers
from fleet_components.model.problem import FleetError
from tests.live.api_server import (
    CANARY,
    Answer,
    Api,
    api_server,
    closes,
    drips,
    hangs,
    kubeconfig,
    refuses,
    send,
)

pytestmark = pytest.mark.long

UID, STACK = "5f3c", "organization/shop/dev"
SOON, BOUND = 0.5, 5.0  # what a call is given, and what it may take on a machine that is busy
APP = Leftover("apps/v1", "Deployment", "shop", "app")
SETTINGS = Leftover("v1", "ConfigMap", "shop", "settings")
ROLE = Leftover("rbac.authorization.k8s.io/v1", "ClusterRole", "", "shop:reader")
APP_PATH, SETTINGS_PATH = (
    "/apis/apps/v1/namespaces/shop/deployments/app",
    "/api/v1/namespaces/shop/configmaps/settings",
)
ROLE_PATH = "/apis/rbac.authorization.k8s.io/v1/clusterroles/shop%3Areader"


@pytest.fixture
def api(monkeypatch: pytest.MonkeyPatch) -> Iterator[Api]:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with api_server() as found:
        found.objects["/api/v1/namespaces/kube-system"] = {
            "metadata": {"name": "kube-system", "uid": UID}
        }
        for path in (APP_PATH, SETTINGS_PATH, ROLE_PATH):
            found.put(path, STACK)
        yield found


def plugin(code: str, version: str = "v1") -> dict[str, Any]:
    command = {
        "command": sys.executable,
        "args": ["-S", "-c", code],
        "env": [{"name": "PLANTED", "value": CANARY}],
    }
    return {"exec": {"apiVersion": f"client.authentication.k8s.io/{version}", **command}}


TELLS = (
    "import json, os; asked = json.loads(os.environ['KUBERNETES_EXEC_INFO']); "
    "assert not asked['spec']['interactive']; "
    "print(json.dumps({**asked, 'status': {'token': os.environ['PLANTED']}}))"
)


@pytest.mark.parametrize(
    ("user", "sent"),
    [
        ({"token": CANARY}, f"Bearer {CANARY}"),
        ({"username": "me", "password": CANARY}, "Basic bWU6U1dPUkRGSVNI"),
        ({}, None),
        (plugin(TELLS), f"Bearer {CANARY}"),
        (plugin(TELLS, "v1beta1"), f"Bearer {CANARY}"),
    ],
    ids=["token", "password", "nobody", "plugin", "plugin v1beta1"],
)
def test_who_asks(api: Api, user: Any, sent: str | None) -> None:
    assert ask_cluster(api.kubeconfig(user), timeout=30).uid == UID
    assert api.headers == [sent]


def test_the_objects_that_a_cluster_has(api: Api) -> None:
    """Where one of them cannot be asked for, nothing is known; what is in a namespace that is not there, is not there."""
    del api.objects[SETTINGS_PATH]
    elsewhere, unserved = attrs.evolve(APP, namespace="none"), attrs.evolve(SETTINGS, kind="Widget")
    api.answers["/apis/apps/v1/namespaces/none/deployments/app"] = refuses(403)  # not asked
    api.objects["/api/v1/namespaces/shop"] = {}
    asked = (APP, SETTINGS, elsewhere, unserved)
    answer = ask_cluster(api.kubeconfig(), asked, timeout=30)
    assert (answer.uid, answer.objects) == (UID, {APP: api.objects[APP_PATH]})
    api.answers[SETTINGS_PATH] = refuses(403)
    answer = ask_cluster(api.kubeconfig(), asked, timeout=30)
    assert (answer.uid, answer.objects) == (UID, None)


def test_a_context_without_a_user(api: Api) -> None:
    parsed = yaml.safe_load(api.kubeconfig())
    del parsed["contexts"][0]["context"]["user"], parsed["users"]
    assert ask_cluster(yaml.safe_dump(parsed), timeout=30).uid == UID


def test_a_path_before_the_api(api: Api) -> None:
    below = api.kubeconfig(server=f"http://127.0.0.1:{api.server.server_port}/k8s/clusters/c-1/")
    api.objects["/k8s/clusters/c-1/api/v1/namespaces/kube-system"] = {
        "metadata": {"uid": "another"}
    }
    assert ask_cluster(below, timeout=30).uid == "another"


BAD_ANSWERS: dict[str, Callable[[Api], Answer]] = {
    "hangs": hangs,
    "drips": drips,
    "closes": lambda _: closes,
    "401": lambda _: refuses(401),
    "403": lambda _: refuses(403),
    "404": lambda _: refuses(404),
    "503": lambda _: refuses(503),
    "moved": lambda _: refuses(302),
    "no JSON": lambda _: lambda request: send(request, 200, "no object"),
    "no uid": lambda _: lambda request: send(request, 200, {"metadata": {"uid": None}}),
}
BAD_CONFIGS: dict[str, Callable[[Api], str]] = {
    "no YAML": lambda _: f"{{{CANARY}",
    "nothing": lambda _: "",
    "a word": lambda _: CANARY,
    "no contexts": lambda _: "clusters: []",
    "no current context": lambda api: api.kubeconfig().replace("current-context", CANARY),
    "a context that is not there": lambda api: api.kubeconfig().replace(
        "current-context: x", f"current-context: {CANARY}"
    ),
    "no such plugin": lambda api: api.kubeconfig(
        {"exec": {**plugin("")["exec"], "command": f"/nowhere/{CANARY}"}}
    ),
    "a plugin that fails": lambda api: api.kubeconfig(
        plugin("import os, sys; sys.exit(os.environ['PLANTED'])")
    ),
    "a plugin that says nothing": lambda api: api.kubeconfig(plugin("pass")),
    "a plugin that hangs": lambda api: api.kubeconfig(plugin("import time; time.sleep(60)")),
    "a token that no header holds": lambda api: api.kubeconfig({"token": f"{CANARY}\r\nHost: x"}),
    "an authority that is none": lambda api: api.kubeconfig(
        **{"certificate-authority-data": CANARY}
    ),
    "a certificate that is not there": lambda api: api.kubeconfig(
        {"client-certificate": CANARY, "client-key": CANARY}
    ),
    "no server": lambda _: kubeconfig({"server": f"http://{CANARY}.invalid"}, {"token": CANARY}),
    "no port": lambda _: kubeconfig({"server": "http://127.0.0.1:1"}, {"token": CANARY}),
    "no address": lambda _: kubeconfig({"server": f"{CANARY}://["}, {"token": CANARY}),
    "no TLS": lambda api: api.kubeconfig(server=f"https://127.0.0.1:{api.server.server_port}"),
}


@pytest.mark.parametrize("bad", BAD_ANSWERS)
def test_no_uid_from_a_cluster_that_does_not_answer(
    api: Api, bad: str, capfd: pytest.CaptureFixture[str]
) -> None:
    api.answers["/api/v1/namespaces/kube-system"] = BAD_ANSWERS[bad](api)
    began = time.monotonic()
    assert ask_cluster(api.kubeconfig(), timeout=SOON).uid is None
    assert time.monotonic() - began < BOUND
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("bad", BAD_CONFIGS)
def test_nothing_with_a_kubeconfig_that_does_not_work(
    api: Api, bad: str, capfd: pytest.CaptureFixture[str]
) -> None:
    text = BAD_CONFIGS[bad](api)
    began = time.monotonic()
    assert ask_cluster(text, timeout=SOON).uid is None
    with pytest.raises(FleetError) as raised:
        delete_leftovers(text, [APP], stacks={STACK}, timeout=SOON)
    assert time.monotonic() - began < 2 * BOUND
    assert [problem.subject for problem in raised.value.problems] == ["Deployment shop/app"]
    assert no_secret(raised.value)
    assert capfd.readouterr() == ("", "")
    assert not api.deleted


def no_secret(error: BaseException) -> bool:
    return CANARY not in f"{error!r} {error.__cause__!r} {error.__context__!r}"


@pytest.mark.skipif(os.name != "posix", reason="looks for the process as POSIX does")
def test_a_plugin_that_hangs_is_ended(api: Api, tmp_path: Path) -> None:
    file = tmp_path / "pid"
    asks = {
        **plugin("")["exec"],
        "command": "sh",
        "args": ["-c", f"echo $$ > '{file}'; exec sleep 60"],
    }
    assert ask_cluster(api.kubeconfig({"exec": asks}), timeout=2).uid is None
    pid = int(file.read_text())
    until = time.monotonic() + BOUND
    while time.monotonic() < until:
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return
        time.sleep(0.05)
    pytest.fail("it goes on")


def test_deletes_what_carries_the_annotation(api: Api) -> None:
    objects = [SETTINGS, APP, ROLE, APP]
    assert delete_leftovers(api.kubeconfig(), objects, stacks={STACK}) == (SETTINGS, APP, ROLE)
    assert [path for path, _ in api.deleted] == [SETTINGS_PATH, APP_PATH, ROLE_PATH]
    for path, options in api.deleted:
        assert options["propagationPolicy"] == "Background"
        assert options["preconditions"] == {"uid": f"uid of {path}"}
    assert delete_leftovers(api.kubeconfig(), objects, stacks={STACK}) == (), "all are gone"


@pytest.mark.parametrize("stack", ["organization/shop/prod", None])
def test_leaves_what_another_brought(api: Api, stack: str | None) -> None:
    api.put(APP_PATH, stack)
    assert delete_leftovers(api.kubeconfig(), [APP, SETTINGS], stacks={STACK}) == (SETTINGS,)
    assert APP_PATH in api.objects


def test_leaves_what_stood_there_before(api: Api) -> None:
    api.objects[APP_PATH]["metadata"]["annotations"][FOUND_ANNOTATION] = FOUND
    assert delete_leftovers(
        api.kubeconfig(), [APP, SETTINGS], stacks={STACK}, spares_found=True
    ) == (SETTINGS,)
    assert delete_leftovers(api.kubeconfig(), [APP], stacks={STACK}) == (APP,)


def test_leaves_what_is_going(api: Api) -> None:
    api.put(APP_PATH, STACK, deletionTimestamp="2026-01-01T00:00:00Z")
    assert delete_leftovers(api.kubeconfig(), [APP], stacks={STACK}) == ()
    assert not api.deleted


def test_what_goes_at_the_same_moment_was_not_deleted_here(api: Api) -> None:
    api.answers["DELETE"] = refuses(404)
    assert delete_leftovers(api.kubeconfig(), [APP], stacks={STACK}) == ()


@pytest.mark.parametrize(
    "past",
    [
        Leftover("gone.example.com/v1", "Widget", "shop", "w"),
        Leftover("apps/v1", "Widget", "shop", "w"),
        Leftover("v1", "Widget", "shop", "w"),
    ],
)
def test_a_kind_of_the_past_is_done(api: Api, past: Leftover) -> None:
    assert delete_leftovers(api.kubeconfig(), [past, SETTINGS], stacks={STACK}) == (SETTINGS,)


def test_a_version_of_the_past_is_found_in_another_one(api: Api) -> None:
    old = attrs.evolve(APP, api_version="apps/v1beta2")
    assert delete_leftovers(api.kubeconfig(), [old], stacks={STACK}) == (old,)
    assert [path for path, _ in api.deleted] == [APP_PATH]


def test_the_namespace_of_the_context_where_there_is_no_other(api: Api) -> None:
    parsed = yaml.safe_load(api.kubeconfig())
    parsed["contexts"][0]["context"]["namespace"] = "shop"
    bare = attrs.evolve(SETTINGS, namespace="")
    assert delete_leftovers(yaml.safe_dump(parsed), [bare], stacks={STACK}) == (bare,)


def test_nothing_left_is_not_even_asked_for() -> None:
    assert delete_leftovers("no kubeconfig", [], stacks={STACK}) == ()


@pytest.mark.parametrize(
    ("status", "shown"), [(401, "401 Unauthorized"), (403, "403 Forbidden"), (599, "599")]
)
@pytest.mark.parametrize("where", ["DELETE", APP_PATH, "/apis", "/apis/apps/v1"])
def test_refused(api: Api, status: int, shown: str, where: str) -> None:
    api.answers[where] = refuses(status)
    with pytest.raises(FleetError) as raised:
        delete_leftovers(api.kubeconfig(), [APP], stacks={STACK})
    (problem,) = raised.value.problems
    assert problem.subject == "Deployment shop/app"
    assert problem.what.endswith(f"its cluster refuses with {shown}")
    assert problem.hint
    assert no_secret(raised.value)


def test_one_that_is_refused_does_not_keep_the_others(api: Api) -> None:
    api.answers[APP_PATH] = refuses(403)
    with pytest.raises(FleetError) as raised:
        delete_leftovers(api.kubeconfig(), [APP, SETTINGS, ROLE], stacks={STACK})
    assert [problem.subject for problem in raised.value.problems] == [str(APP)]
    assert [path for path, _ in api.deleted] == [SETTINGS_PATH, ROLE_PATH]


@pytest.mark.parametrize("bad", ["hangs", "drips", "closes", "no JSON"])
def test_one_that_is_not_answered_is_a_problem(api: Api, bad: str) -> None:
    api.answers[APP_PATH] = BAD_ANSWERS[bad](api)
    began = time.monotonic()
    with pytest.raises(FleetError) as raised:
        delete_leftovers(api.kubeconfig(), [SETTINGS, APP], stacks={STACK}, timeout=2)
    assert time.monotonic() - began < 2 + BOUND
    assert [problem.subject for problem in raised.value.problems] == [str(APP)]
    assert "does not answer" in str(raised.value)
    assert [path for path, _ in api.deleted] == [SETTINGS_PATH]
    assert no_secret(raised.value)


def test_what_is_no_kubernetes_api_holds_nothing_back(api: Api) -> None:
    api.objects.clear()
    with pytest.raises(FleetError) as raised:
        delete_leftovers(api.kubeconfig(), [APP, SETTINGS], stacks={STACK})
    assert len(raised.value.problems) == 2


def test_the_module_is_imported_without_the_library() -> None:
    code = "import sys; sys.modules['lightkube'] = None; import fleet_components.live.connection"
    done = os.spawnv(os.P_WAIT, sys.executable, [sys.executable, "-c", code])
    assert done == 0


def test_kubeconfigs_are_read_one_at_a_time(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    """Read by several threads at once for the first time, they ended the process."""
    read, reading, most = KubeConfig.from_dict, 0, 0

    def slowly(*given: Any, **options: Any) -> KubeConfig:
        nonlocal reading, most
        reading += 1
        most = max(most, reading)
        time.sleep(0.02)
        reading -= 1
        return read(*given, **options)

    monkeypatch.setattr(KubeConfig, "from_dict", slowly)
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda _: ask_cluster(api.kubeconfig()), range(4)))
    assert most == 1
