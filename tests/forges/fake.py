"""A forge on 127.0.0.1: the parts of the APIs of GitHub, GitLab and Azure DevOps that comments need, with their rules."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any
from urllib.parse import parse_qs, urlsplit

import attrs

TOKEN = "token-planted"
ME, STRANGER, BOT = 7, 8, 9


@attrs.define
class Comment:
    id: int
    author: int
    text: str


@attrs.define
class Forge:
    """What the forge holds. ``pulls`` are pull requests as GitHub lists them, ``odd`` are answers by path."""

    url: str = ""
    comments: list[Comment] = attrs.field(factory=list)
    pulls: list[dict[str, Any]] = attrs.field(factory=list)
    written: list[tuple[str, str]] = attrs.field(factory=list)
    status: int = 200
    paths: list[str] = attrs.field(factory=list)
    odd: dict[str, Any] = attrs.field(factory=dict)

    def say(self, author: int, text: str) -> Comment:
        self.comments.append(Comment(len(self.comments) + 1, author, text))
        return self.comments[-1]

    @property
    def texts(self) -> list[str]:
        return [comment.text for comment in self.comments]

    def answer(self, method: str, path: str, query: dict[str, list[str]], body: Any) -> Any:
        """Return what the API would; an unknown path is an error of the test."""
        if path in self.odd:
            return self.odd[path]
        if method != "GET":
            self.written.append((method, path))
        for pattern, of in ROUTES.items():
            if found := re.fullmatch(pattern, f"{method} {path}"):
                return of(self, found, query, body)
        raise AssertionError(f"unexpected: {method} {path}")

    def page(self, items: list[Any], query: dict[str, list[str]]) -> list[Any]:
        size, number = int(query["per_page"][0]), int(query["page"][0])
        return items[(number - 1) * size : number * size]


def _change(forge: Forge, id: str, text: str) -> dict[str, Any]:
    (item,) = [comment for comment in forge.comments if comment.id == int(id)]
    item.text = text
    return {"id": item.id}


def _on_github(forge: Forge) -> list[dict[str, Any]]:
    users = {
        ME: {"type": "Bot", "login": "github-actions[bot]"},
        BOT: {"type": "Bot", "login": "echo[bot]"},
        STRANGER: {"type": "User", "login": "stranger"},
    }
    return [
        {"id": comment.id, "body": comment.text, "user": users[comment.author]}
        for comment in forge.comments
    ]


def _on_gitlab(forge: Forge) -> list[dict[str, Any]]:
    return [
        {"id": comment.id, "body": comment.text, "author": {"id": comment.author}}
        for comment in forge.comments
    ]


def _on_azure(forge: Forge) -> list[dict[str, Any]]:
    return [
        {
            "id": 100 + comment.id,
            "comments": [{"id": 1, "content": comment.text, "author": {"id": str(comment.author)}}],
        }
        for comment in forge.comments
    ]


def _posted_on_azure(forge: Forge, body: Any) -> dict[str, Any]:
    (first,) = body["comments"]
    assert first["parentCommentId"] == 0
    return {"id": forge.say(ME, first["content"]).id}


THREADS = "/tp/_apis/git/repositories/repo/pullRequests/7/threads"
ROUTES: dict[str, Any] = {
    r"GET /repos/acme/shop/pulls": lambda f, m, q, b: f.page(
        [
            pull
            for pull in f.pulls
            if f"{pull['head']['repo']['owner']}:{pull['head']['ref']}" == q["head"][0]
        ],
        q,
    ),
    r"GET /repos/acme/shop/issues/7/comments": lambda f, m, q, b: f.page(_on_github(f), q),
    r"POST /repos/acme/shop/issues/7/comments": lambda f, m, q, b: {"id": f.say(ME, b["body"]).id},
    r"PATCH /repos/acme/shop/issues/comments/(\d+)": lambda f, m, q, b: _change(f, m[1], b["body"]),
    r"GET /user": lambda f, m, q, b: {"id": ME},
    r"GET /projects/5/merge_requests/7/notes": lambda f, m, q, b: f.page(_on_gitlab(f), q),
    r"POST /projects/5/merge_requests/7/notes": lambda f, m, q, b: {"id": f.say(ME, b["body"]).id},
    r"PUT /projects/5/merge_requests/7/notes/(\d+)": lambda f, m, q, b: _change(f, m[1], b["body"]),
    r"GET /_apis/connectionData": lambda f, m, q, b: {"authenticatedUser": {"id": str(ME)}},
    rf"GET {THREADS}": lambda f, m, q, b: {"value": _on_azure(f)},
    rf"POST {THREADS}": lambda f, m, q, b: _posted_on_azure(f, b),
    rf"PATCH {THREADS}/1(\d\d)/comments/1": lambda f, m, q, b: _change(f, m[1], b["content"]),
}


class _Handler(BaseHTTPRequestHandler):
    forge: Forge

    def _serve(self) -> None:
        size = int(self.headers.get("Content-Length") or 0)
        body = json.loads(self.rfile.read(size)) if size else None
        token = self.headers.get("Authorization") or f"Bearer {self.headers.get('PRIVATE-TOKEN')}"
        at = urlsplit(self.path)
        self.forge.paths.append(at.path)
        status, answer = self.forge.status, None
        if token != f"Bearer {TOKEN}":
            status = 401
        elif status == 200:
            answer = self.forge.answer(self.command, at.path, parse_qs(at.query), body)
        data = json.dumps(answer).encode()
        self.send_response(status)
        if status // 100 == 3:
            self.send_header("Location", f"{self.forge.url}/elsewhere")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    do_GET = do_POST = do_PATCH = do_PUT = _serve  # noqa: N815

    def log_message(self, *args: Any) -> None:
        """Say nothing."""


@contextmanager
def forge() -> Iterator[Forge]:
    found = Forge()
    handler = type("Handler", (_Handler,), {"forge": found})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        found.url = f"http://127.0.0.1:{server.server_port}"
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield found
        finally:
            server.shutdown()
            thread.join()
