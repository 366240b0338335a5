"""The audit of the pins: a hole fails it, and a database that nobody can reach does not."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from tools.audit import audit

HOLE = {
    "id": "HOLE-1",
    "summary": "lets anybody in",
    "affected": [
        {
            "package": {"name": "attrs", "ecosystem": "PyPI"},
            "ranges": [{"type": "ECOSYSTEM", "events": [{"introduced": "0"}, {"fixed": "99.1"}]}],
        }
    ],
}


class Database(BaseHTTPRequestHandler):
    """Answers as OSV does; it knows of a hole in one package."""

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        found = {"vulns": [HOLE]} if asked["package"]["name"] == "attrs" else {}
        self.send_response(200)
        self.end_headers()
        self.wfile.write(json.dumps(found).encode())

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture(autouse=True)
def _without_a_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


@pytest.fixture
def database() -> Iterator[dict[str, list[str]]]:
    with HTTPServer(("127.0.0.1", 0), Database) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield at(server.server_port)
        server.shutdown()


def at(port: int) -> dict[str, list[str]]:
    return {"stand-in": ["--vulnerability-service=osv", f"--osv-url=http://127.0.0.1:{port}/"]}


def pins(folder: Path, *lines: str) -> Path:
    file = folder / "pins.txt"
    file.write_text("\n".join(lines))
    return file


def test_a_hole_fails(tmp_path: Path, database: dict[str, list[str]]) -> None:
    found = audit(pins(tmp_path, "attrs==26.1.0", "click==8.5.1"), database)
    assert found == (1, ["pins.txt: attrs 26.1.0: HOLE-1, mended in 99.1"])


@pytest.mark.long
def test_without_a_hole_it_passes(tmp_path: Path, database: dict[str, list[str]]) -> None:
    assert audit(pins(tmp_path, "click==8.5.1"), database) == (
        0,
        ["pins.txt: no known hole in 1 pins, says stand-in"],
    )


@pytest.mark.long
def test_what_cannot_be_reached_is_said(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    said = "pins.txt: not audited, because no database can be reached: stand-in"
    assert audit(pins(tmp_path, "click==8.5.1"), at(port)) == (0, [said])


@pytest.mark.long
def test_what_cannot_be_read_is_no_matter_of_reach(
    tmp_path: Path, database: dict[str, list[str]]
) -> None:
    with pytest.raises(RuntimeError, match="pip-audit has failed"):
        audit(pins(tmp_path, "click===== 1"), database)
