"""A stand-in for an API server, in this process: it serves objects, tries out applies, refuses, is slow or is silent."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import attrs
import yaml

from fleet_components.content.stamp import STACK_ANNOTATION
from tests.live.fields import Conflict, Field, applied, managed_fields

CANARY = "SWORDFISH"
"""The token that kubeconfigs have unless told otherwise."""
Answer = Callable[[BaseHTTPRequestHandler], None]
_KINDS = {
    "/api/v1": "ConfigMap Event Namespace Pod Secret Service ServiceAccount",
    "/apis/apps/v1": "DaemonSet Deployment StatefulSet",
    "/apis/apps/v2": "Job",
    "/apis/rbac.authorization.k8s.io/v1": "ClusterRole",
}
_CLUSTER_SCOPED = ("Namespace", "ClusterRole")


@attrs.define
class Api:
    """The stand-in.

    Attributes:
        objects: what a GET answers, by path: objects, and the lists of kinds that are served.
        lists: the objects that a list has, by path; answered in pages of at most ``page`` where a limit is asked for.
        page: the largest page, whatever the limit.
        answers: answers in place of its own, by method, by path without query, or by both with a space between.
        defaults: fields that are added to objects of a kind where they are not sent.
        deleted: paths and bodies of deletions.
        headers: the Authorization header of each request.
        asked: method and path of each request.
        bodies: what came with each request that had a body.
    """

    server: ThreadingHTTPServer
    ended: threading.Event = attrs.field(factory=threading.Event)
    objects: dict[str, dict[str, Any]] = attrs.field(factory=lambda: discovery())
    lists: dict[str, list[Any]] = attrs.field(factory=dict)
    page: int = 1000
    answers: dict[str, Answer] = attrs.field(factory=dict)
    defaults: dict[str, dict[str, Any]] = attrs.field(factory=dict)
    deleted: list[tuple[str, dict[str, Any]]] = attrs.field(factory=list)
    headers: list[str | None] = attrs.field(factory=list)
    asked: list[tuple[str, str]] = attrs.field(factory=list)
    bodies: list[Any] = attrs.field(factory=list)
    _managers: dict[str, dict[str, set[Field]]] = attrs.field(factory=dict)

    def kubeconfig(self, user: Any = None, **cluster: Any) -> str:
        """Return the text of a kubeconfig for it."""
        server = f"http://127.0.0.1:{self.server.server_port}"
        return kubeconfig(
            {"server": server, **cluster}, {"token": CANARY} if user is None else user
        )

    def put(self, path: str, stack: str | None, **metadata: Any) -> None:
        """Let it have an object with nothing but metadata."""
        annotations = {"annotations": {STACK_ANNOTATION: stack}} if stack else {}
        self.objects[path] = {
            "metadata": {"name": path, "uid": f"uid of {path}", **annotations, **metadata}
        }

    def apply(
        self, data: dict[str, Any], manager: str, *, force: bool = True, dry: bool = False
    ) -> dict[str, Any]:
        """Apply an object and return it as it stands, or would stand.

        Raises:
            Conflict: other managers have set fields otherwise.
        """
        path = path_of(data)
        live = self.objects.get(path) or self.defaults.get(data["kind"], {})
        whole, managers = applied(live, data, self._managers.get(path, {}), manager, force=force)
        metadata = {"uid": f"uid of {path}", "generation": 1, **whole["metadata"]}
        whole["metadata"] = {**metadata, "managedFields": managed_fields(managers)}
        if not dry:
            self.objects[path], self._managers[path] = whole, managers
        return whole

    def handle(self, request: BaseHTTPRequestHandler) -> None:
        """Answer a request."""
        url, method = urlsplit(request.path), request.command
        self.headers.append(request.headers.get("Authorization"))
        self.asked.append((method, request.path))
        body = json.loads(
            request.rfile.read(int(request.headers.get("Content-Length") or 0)) or "null"
        )
        self.bodies += [] if body is None else [body]
        if answer := next(
            filter(None, map(self.answers.get, (f"{method} {url.path}", method, url.path))), None
        ):
            answer(request)
        else:
            self.serve(request, body)

    def serve(self, request: BaseHTTPRequestHandler, body: Any = None) -> None:
        """Answer a request as if ``answers`` had nothing for it."""
        url, method = urlsplit(request.path), request.command
        if method == "DELETE":
            self.deleted.append((url.path, body))
            send(request, 200 if self.objects.pop(url.path, None) else 404, {"kind": "Status"})
        elif method in ("PATCH", "POST"):
            self._try_out(request, body, dict(parse_qsl(url.query)))
        elif url.path in self.lists:
            send(
                request,
                200,
                self._page(
                    url.path, dict(parse_qsl(url.query)), request.headers.get("Accept") or ""
                ),
            )
        elif url.path in self.objects:
            send(request, 200, self.objects[url.path])
        else:
            send(request, 404, {"kind": "Status", "code": 404})

    def _page(self, path: str, options: dict[str, str], accept: str) -> dict[str, Any]:
        """Return a page of a list; items lack apiVersion and kind, as those of built-in kinds do."""
        first, items = int(options.get("continue", "0")), self.lists[path]
        end = first + min(int(options["limit"]), self.page) if "limit" in options else len(items)
        shown, kind = items[first:end], "SomeList"
        if "PartialObjectMetadataList" in accept:
            kind, shown = (
                "PartialObjectMetadataList",
                [{"metadata": item["metadata"]} for item in shown],
            )
        return {
            "kind": kind,
            "metadata": {"continue": str(end)} if end < len(items) else {},
            "items": shown,
        }

    def _try_out(self, request: BaseHTTPRequestHandler, body: Any, options: dict[str, str]) -> None:
        force = options.get("force") == "true"
        try:
            send(
                request,
                200,
                self.apply(body, options["fieldManager"], force=force, dry="dryRun" in options),
            )
        except Conflict as conflict:
            send(request, 409, {"kind": "Status", "message": str(conflict)})


class _Server(ThreadingHTTPServer):
    request_queue_size = 128
    """With the five of the library, clients that connect at once wait for their second packet: a second or more."""


@contextmanager
def api_server() -> Iterator[Api]:
    """Serve on a free port until the block ends. Set ``NO_PROXY`` to ``127.0.0.1`` where a proxy is configured."""

    class Handler(BaseHTTPRequestHandler):
        def handle_one_request(self) -> None:
            try:
                super().handle_one_request()
            except OSError:  # the client went away
                self.close_connection = True

        def do_GET(self) -> None:
            found.handle(self)

        do_DELETE = do_PATCH = do_POST = do_GET  # noqa: N815, the names that the library looks for

        def log_message(self, *_: Any) -> None:
            """Nothing."""

    server = _Server(("127.0.0.1", 0), Handler)
    found = Api(server)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield found
    finally:
        found.ended.set()
        server.shutdown()
        server.server_close()
        thread.join()


def path_of(data: dict[str, Any]) -> str:
    """Return the path of an object."""
    api, metadata = data["apiVersion"], data["metadata"]
    space = f"namespaces/{metadata['namespace']}/" if metadata.get("namespace") else ""
    return f"/{'apis' if '/' in api else 'api'}/{api}/{space}{data['kind'].lower()}s/{metadata['name']}"


def kubeconfig(cluster: Any, user: Any, **context: Any) -> str:
    """Return the text of a kubeconfig."""
    names = {"cluster": "c", "user": "u", **context}
    parts = {
        "clusters": [{"name": "c", "cluster": cluster}],
        "contexts": [{"name": "x", "context": names}],
        "users": [{"name": "u", "user": user}],
    }
    return yaml.safe_dump({"apiVersion": "v1", "kind": "Config", "current-context": "x", **parts})


def discovery() -> dict[str, dict[str, Any]]:
    """Return the lists of what is served, by path."""
    lists = {
        root: {"resources": [each for kind in kinds.split() for each in _resources(kind)]}
        for root, kinds in _KINDS.items()
    }
    versions = {"apps": ["v2", "v1"], "rbac.authorization.k8s.io": ["v1"]}
    groups = [
        {"name": name, "versions": [{"version": each} for each in found]}
        for name, found in versions.items()
    ]
    return {**lists, "/apis": {"groups": groups}}


def _resources(kind: str) -> list[dict[str, Any]]:
    name = f"{kind.lower()}s"
    return [
        {"name": each, "kind": kind, "namespaced": kind not in _CLUSTER_SCOPED}
        for each in (f"{name}/status", name)
    ]


def serves(api: Api, *kinds: str, together: bool = True) -> None:
    """Let it serve kinds, ``group/version/Kind`` or ``version/Kind``, with a ``*`` behind those that are cluster-scoped.

    Args:
        api: the stand-in.
        kinds: the kinds, of each group in the order in which it prefers its versions.
        together: True to tell them all in one answer, as API servers of today do.
    """
    groups: dict[str, dict[str, list[str]]] = {}
    for name in kinds:
        version, _, kind = name.rpartition("/")
        group, _, version = version.rpartition("/")
        groups.setdefault(group, {}).setdefault(version, []).append(kind)
    for root, found in (
        ("/api", {name: versions for name, versions in groups.items() if not name}),
        ("/apis", {name: versions for name, versions in groups.items() if name}),
    ):
        items = [
            {
                "metadata": {"name": name},
                "versions": [_version(item, kinds) for item, kinds in versions.items()],
            }
            for name, versions in found.items()
        ]
        api.objects[root] = {"kind": "APIGroupDiscoveryList", "items": items}
    if together:
        return
    api.objects["/api"] = {"kind": "APIVersions", "versions": list(groups.get("", {}))}
    named = {name: versions for name, versions in groups.items() if name}
    api.objects["/apis"] = {
        "kind": "APIGroupList",
        "groups": [
            # Not in the order of preference, which is told besides.
            {
                "name": name,
                "versions": [{"version": item} for item in reversed(versions)],
                "preferredVersion": {"version": next(iter(versions))},
            }
            for name, versions in named.items()
        ],
    }
    for name, versions in groups.items():
        for version, of_version in versions.items():
            path = f"/apis/{name}/{version}" if name else f"/api/{version}"
            api.objects[path] = {
                "kind": "APIResourceList",
                "resources": [
                    {
                        "name": plural(item),
                        "kind": item.strip("*"),
                        "namespaced": "*" not in item,
                        "verbs": ["list"],
                    }
                    for item in of_version
                ],
            }


def plural(kind: str) -> str:
    """Return the plural of a kind of the tests."""
    name = kind.strip("*").lower()
    return f"{name[:-1]}ies" if name.endswith("y") else f"{name}s"


def _version(version: str, kinds: list[str]) -> dict[str, Any]:
    resources = [
        {
            "resource": plural(kind),
            "responseKind": {"group": "", "version": "", "kind": kind.strip("*")},
            "scope": "Cluster" if "*" in kind else "Namespaced",
            "verbs": ["get", "list"],
            "subresources": [{"subresource": "status"}],
        }
        for kind in kinds
    ]
    return {"version": version, "resources": resources}


def send(request: BaseHTTPRequestHandler, status: int, body: Any) -> None:
    """Answer with JSON."""
    data = json.dumps(body).encode()
    request.send_response(status)
    request.send_header("Content-Type", "application/json")
    request.send_header("Content-Length", str(len(data)))
    request.end_headers()
    request.wfile.write(data)


def refuses(status: int) -> Answer:
    """Answers as a server would that repeats what it was sent."""
    return lambda request: send(
        request, status, {"message": f"{request.headers.get('Authorization')} may not"}
    )


def closes(request: BaseHTTPRequestHandler) -> None:
    request.close_connection = True


def hangs(api: Api) -> Answer:
    def answer(request: BaseHTTPRequestHandler) -> None:
        api.ended.wait(60)
        closes(request)

    return answer


def drips(api: Api) -> Answer:
    """Always something within the timeout, but never all of it."""

    def answer(request: BaseHTTPRequestHandler) -> None:
        request.send_response(200)
        request.send_header("Content-Length", "1000")
        request.end_headers()
        while not api.ended.wait(0.1):
            request.wfile.write(b" ")
        closes(request)

    return answer
