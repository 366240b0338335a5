"""Replays the commands of ``docs/hub.md``: ``python -m tests.cli.hub_guide`` prints the page with their output.

The hub is a stand-in with the objects that a real KubeFleet hub had before and after the change of the page; what that
hub's ``kubectl apply`` said stands in the page.
"""

from __future__ import annotations

import json
import re
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tests.cli.guide import replayed
from tests.live.api_server import Api, api_server, plural, serves

PAGE = Path(__file__).parents[2] / "docs" / "hub.md"
DATA = Path(__file__).with_name("data")
_TIME = re.compile(r"\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")
_APPLIED = re.compile(r"(?m)^(?P<line>\$ kubectl apply .*\n)(?P<said>(?:(?!\$ |```).*\n)*)")

AGENT = {
    "apiVersion": "apps/v1",
    "kind": "Deployment",
    "metadata": {
        "name": "hub-agent",
        "namespace": "fleet-system",
        "labels": {"app.kubernetes.io/name": "hub-agent"},
    },
    "spec": {
        "template": {
            "spec": {"containers": [{"image": "ghcr.io/kubefleet-dev/kubefleet/hub-agent:v0.3.1"}]}
        }
    },
}
"""The agent of the hub, of the release that it was."""


@contextmanager
def served() -> Iterator[Api]:
    """The stand-in, with the objects of the hub before the change."""
    with api_server() as api:
        show(api, "before")
        yield api


def show(api: Api, when: str) -> None:
    """Let the stand-in have the objects of the hub ``before`` or ``after`` the change."""
    # An agent that was heard when the file was made is one that is heard now.
    heard = f'"lastReceivedHeartbeat": "{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}"'
    text = re.sub(
        r'"lastReceivedHeartbeat": "[^"]*"', heard, (DATA / f"hub-{when}.json").read_text()
    )
    objects: list[dict[str, Any]] = [*json.loads(text), AGENT]
    serves(api, *dict.fromkeys(f"{data['apiVersion']}/{_scoped(data['kind'])}" for data in objects))
    api.lists.clear()
    for data in objects:
        version, namespace = data["apiVersion"], data["metadata"].get("namespace")
        root = f"/apis/{version}" if "/" in version else f"/api/{version}"
        for space in ["", f"/namespaces/{namespace}"] if namespace else [""]:
            api.lists.setdefault(f"{root}{space}/{plural(data['kind'])}", []).append(data)


def _scoped(kind: str) -> str:
    """Return a kind with a star behind it if it is cluster-scoped."""
    return (
        f"{kind}*" if kind.startswith("Cluster") or kind in ("MemberCluster", "Namespace") else kind
    )


def page(text: str, folder: Path) -> str:
    """Return the page with what its commands print in an empty folder."""
    with served() as api:
        (folder / "hub.kubeconfig").write_text(api.kubeconfig())
        (folder / ".gitignore").write_text("hub.kubeconfig\n")
        said = {found["line"]: found["said"] for found in _APPLIED.finditer(text)}

        def applied(line: str) -> str:
            show(api, "after")
            time.sleep(
                1
            )  # the clock of a hub counts seconds, and the page shows that its header changes
            return line + said[line]

        return _TIME.sub("2026-11-23T18:00:00Z", replayed(text, folder, {"kubectl": applied}))


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as empty:
        sys.stdout.write(page(PAGE.read_text(), Path(empty)))
