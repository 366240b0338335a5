"""An object is created once what stood under its name is gone: then, and not before."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import Any

import pulumi
import pytest

from fleet_components.components import keeping as creation
from fleet_components.components.refusal import RefusedError
from tests.live.api_server import Api, api_server, hangs, path_of, refuses

# What takes long is loaded before anything is timed.
pytest.importorskip("lightkube.config.client_adapter")
WEB: dict[str, Any] = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "web", "namespace": "shop"},
}
LEAVING = {"deletionTimestamp": "2026-01-01T00:00:00Z", "finalizers": ["example.com/held"]}


@pytest.fixture
def api(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setattr(creation, "ResourceHook", lambda _name, hook: hook)
    with api_server() as found:
        found.objects["/api/v1/namespaces/shop"] = {"metadata": {"uid": "n"}}
        yield found


def stands(api: Api, **metadata: Any) -> None:
    api.objects[path_of(WEB)] = {**WEB, "metadata": {**WEB["metadata"], **metadata}}


def create(api: Api, *, seconds: float = 60.0, kubeconfig: str | None = None) -> None:
    """Call the hook as the engine does before a creation."""

    async def call() -> None:
        text = api.kubeconfig() if kubeconfig is None else kubeconfig
        hook: Callable[..., Any] = creation.before_creation(
            "h", "a", pulumi.Output.from_input(text), seconds
        )
        await hook(pulumi.ResourceHookArgs("urn", "", "web", "v1:Pod", new_inputs=WEB))

    asyncio.run(call())


def test_what_is_being_deleted_is_waited_for(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    stands(api, **LEAVING)
    looked = threading.Event()

    def look(kubeconfig: str, wanted: Any) -> Any:
        found = leaving(kubeconfig, wanted)
        if looked.is_set():
            api.objects.pop(path_of(WEB), None)
        looked.set()
        return found

    leaving = creation._leaving
    monkeypatch.setattr(creation, "_leaving", look)
    create(api)
    assert looked.is_set()
    assert path_of(WEB) not in api.objects


def test_what_stays_is_refused_with_its_finalizers(api: Api) -> None:
    stands(api, **LEAVING)
    with pytest.raises(RefusedError) as refused:
        create(api, seconds=0.0)
    text = str(refused.value)
    assert "Pod shop/web" in text
    assert "is still being deleted on a after 0 s" in text
    assert "example.com/held" in text


@pytest.mark.parametrize("stand", [{}, {"finalizers": ["example.com/held"]}, None])
def test_what_is_not_being_deleted_holds_nothing_up(api: Api, stand: dict[str, Any] | None) -> None:
    if stand is not None:
        stands(api, **stand)
    create(api, seconds=0.0)


@pytest.mark.parametrize("how", ["refuses", "hangs", "has no kubeconfig"])
def test_a_cluster_that_cannot_be_asked_holds_nothing_up(
    api: Api, how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(creation, "_LOOK_SECONDS", 1.0)
    stands(api, **LEAVING)
    if how != "has no kubeconfig":
        api.answers["GET"] = refuses(403) if how == "refuses" else hangs(api)
    create(api, seconds=0.0, kubeconfig="" if how == "has no kubeconfig" else None)
