"""What is said of a hub that cannot be asked: by which context, at which address, why, and what would do."""

from __future__ import annotations

import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import attrs
import pytest
import yaml
from click.testing import CliRunner, Result

from fleet_components.cli.command import fleet
from tests.live.api_server import CANARY, Answer, api_server, kubeconfig, refuses, send
from tests.live.hubs import CONFIG_MAPS, kubefleet, reads

FIREWALL = "check the server of the kubeconfig, and that a VPN or firewall lets you there"
VERSION = "client.authentication.k8s.io/v1"


@attrs.frozen
class Certificate:
    """A certificate for 127.0.0.1 that has signed itself."""

    cert: Path
    key: Path


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Certificate]:
    pytest.importorskip("cryptography")
    folder = tmp_path_factory.mktemp("pki")
    return {
        "good": certificate(folder / "good"),
        "other": certificate(folder / "other"),
        "elsewhere": certificate(folder / "elsewhere", address="127.0.0.9"),
        "expired": certificate(folder / "expired", days=-1),
    }


def certificate(path: Path, address: str = "127.0.0.1", days: int = 1) -> Certificate:
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.x509.oid import NameOID

    key, now = ec.generate_private_key(ec.SECP256R1()), datetime.now(UTC)
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, path.name)])
    builder = x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
    builder = builder.not_valid_before(now - timedelta(days=9)).not_valid_after(
        now + timedelta(days=days)
    )
    names = x509.SubjectAlternativeName([x509.IPAddress(ip_address(address))])
    signed = builder.add_extension(names, critical=False).sign(key, hashes.SHA256())
    made = Certificate(path.with_suffix(".crt"), path.with_suffix(".key"))
    made.cert.write_bytes(signed.public_bytes(serialization.Encoding.PEM))
    form = serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    made.key.write_bytes(key.private_bytes(serialization.Encoding.PEM, *form))
    return made


@contextmanager
def speaking(
    talk: Callable[[socket.socket], object], tls: Certificate | None = None
) -> Iterator[str]:
    """Serve connections on a free port with a function; the address is that of the server."""
    listener = socket.create_server(("127.0.0.1", 0))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER) if tls else None
    if context and tls:
        context.load_cert_chain(tls.cert, tls.key)

    def serve() -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            try:
                with (
                    context.wrap_socket(connection, server_side=True)
                    if context
                    else connection as item
                ):
                    talk(item)
            except OSError:
                connection.close()

    threading.Thread(target=serve, daemon=True).start()
    try:
        yield f"{'https' if tls else 'http'}://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()


def answering(text: str) -> Callable[[socket.socket], object]:
    def talk(item: socket.socket) -> None:
        item.recv(65536)
        item.sendall(text.replace("\n", "\r\n").encode())

    return talk


@pytest.fixture(autouse=True)
def place(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.chdir(tmp_path)


def observe(text: str, *args: str) -> Result:
    Path("hub").write_text(text)
    done = CliRunner().invoke(
        fleet, ["observe", "--hub", "hub", "--out", "out", *args], env={"COLUMNS": "200"}
    )
    assert CANARY not in done.output
    assert "Traceback" not in done.output
    return done


def refused(text: str, *args: str) -> str:
    done = observe(text, *args)
    assert (done.exit_code, Path("out").exists()) == (1, False), done.output
    return done.stderr


def test_nobody_there() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        address = f"127.0.0.1:{listener.getsockname()[1]}"
    said = refused(kubeconfig({"server": f"http://{address}"}, {"token": CANARY}))
    assert (
        f"the hub (context x, {address}): what it serves is not asked: nobody takes the connection there"
        in said
    )
    assert f"hint: {FIREWALL}" in said


def test_of_an_address_only_host_and_port_are_told() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        address = f"127.0.0.1:{listener.getsockname()[1]}"
    server = f"http://ann:{CANARY}@{address}/k8s/{CANARY}?token={CANARY}"
    assert f"(context x, {address})" in refused(kubeconfig({"server": server}, {}))


def test_a_name_that_dns_does_not_know() -> None:
    said = refused(kubeconfig({"server": "https://hub.invalid"}, {"token": CANARY}))
    assert (
        "the hub (context x, hub.invalid:443): what it serves is not asked: its name is not known to DNS"
        in said
    )
    assert FIREWALL in said


@pytest.mark.parametrize(
    ("serves", "trusts", "why", "hint"),
    [
        (
            "good",
            "other",
            "the certificate of the server is not one that the kubeconfig trusts",
            "anew",
        ),
        (
            "good",
            "",
            "the certificate of the server is not one that the kubeconfig trusts",
            "a proxy perhaps",
        ),
        ("expired", "expired", "the certificate of the server has expired", "check the clock"),
        (
            "elsewhere",
            "elsewhere",
            "the certificate of the server is for another address",
            "check the server",
        ),
    ],
)
def test_certificates(
    certificates: dict[str, Certificate], serves: str, trusts: str, why: str, hint: str
) -> None:
    trusted = {"certificate-authority": str(certificates[trusts].cert)} if trusts else {}
    with speaking(answering(""), certificates[serves]) as server:
        said = refused(kubeconfig({"server": server, **trusted}, {"token": CANARY}))
    assert (
        f"the hub (context x, {server.removeprefix('https://')}): what it serves is not asked: {why}"
        in said
    )
    assert hint in said


def test_http_where_the_kubeconfig_has_https() -> None:
    with speaking(answering("HTTP/1.1 400 Bad Request\nContent-Length: 0\n\n")) as server:
        said = refused(kubeconfig({"server": server.replace("http:", "https:")}, {"token": CANARY}))
    assert "the server does not speak TLS" in said
    assert "has that port http, not https?" in said


PAGE = "HTTP/1.1 {}\nContent-Type: text/html; charset=utf-8\nContent-Length: 13\nConnection: close\n\n<html></html>"


@pytest.mark.parametrize("status", ["200 OK", "403 Forbidden", "502 Bad Gateway"])
def test_a_web_page(status: str) -> None:
    with speaking(answering(PAGE.format(status))) as server:
        said = refused(kubeconfig({"server": server}, {"token": CANARY}))
    assert f"is answered with a web page, {status}: a proxy or a login stands between" in said
    assert "check HTTPS_PROXY and NO_PROXY" in said


def test_a_proxy_that_does_not_connect(monkeypatch: pytest.MonkeyPatch) -> None:
    with speaking(
        answering("HTTP/1.1 407 Proxy Authentication Required\nContent-Length: 0\n\n")
    ) as proxy:
        monkeypatch.setenv("HTTPS_PROXY", proxy)
        monkeypatch.delenv("NO_PROXY")
        monkeypatch.delenv("no_proxy", raising=False)
        said = refused(kubeconfig({"server": "https://hub.invalid:6443"}, {"token": CANARY}))
    assert (
        "(context x, hub.invalid:6443): what it serves is not asked: the proxy does not connect"
        in said
    )
    assert "check HTTPS_PROXY and NO_PROXY" in said


def test_a_hub_that_stops_in_the_middle() -> None:
    with speaking(answering("HTTP/1.1 200 OK\nContent-Length: 1000\n\n{")) as server:
        said = refused(kubeconfig({"server": server}, {"token": CANARY}))
    assert (
        f"(context x, {server.removeprefix('http://')}): what it serves is not answered: the connection is"
        in said
    )


def test_a_hub_that_is_slow() -> None:
    with speaking(lambda item: item.recv(1) and item.recv(65536) and item.recv(1)) as server:
        said = refused(kubeconfig({"server": server}, {"token": CANARY}), "--timeout", "0.5")
    assert "is not answered in 0.5 s" in said
    assert "hint: --timeout SECONDS waits longer" in said


@pytest.mark.parametrize(
    ("answer", "why", "hint"),
    [
        (
            refuses(401),
            "the user of the kubeconfig is not known there, or no longer",
            "log in anew",
        ),
        (refuses(400), "is answered with 400 Bad Request", "a port that takes https"),
        (refuses(404), "is not served", "check the server"),
        (
            refuses(429),
            "is answered with 429 Too Many Requests",
            "it limits requests: try again later",
        ),
        (
            lambda request: send(request, 200, "no list"),
            "is not answered as Kubernetes does",
            "check the server",
        ),
    ],
)
def test_answers_that_are_none(answer: Answer, why: str, hint: str) -> None:
    with api_server() as api:
        kubefleet(api)
        api.answers["/api"] = answer
        said = refused(api.kubeconfig())
        assert f"the hub (context x, 127.0.0.1:{api.server.server_port}): what it serves " in said
    assert why in said
    assert hint in said


def test_a_hub_that_stops_in_the_middle_of_a_list(monkeypatch: pytest.MonkeyPatch) -> None:
    def half(request: BaseHTTPRequestHandler) -> None:
        request.send_response(200)
        request.send_header("Content-Length", "1000")
        request.end_headers()
        request.wfile.write(b'{"items": [')
        request.close_connection = True

    reads(monkeypatch)
    with api_server() as api:
        kubefleet(api)
        api.answers[CONFIG_MAPS] = half
        done = observe(api.kubeconfig())
    assert done.exit_code == 0
    assert "! ConfigMap is not answered: the connection is broken off\n" in done.stdout


@pytest.mark.parametrize(
    ("user", "why", "hint"),
    [
        (
            {
                "exec": {
                    "apiVersion": VERSION,
                    "command": "no-such-plugin",
                    "installHint": "see https://plug.example",
                }
            },
            'the credential plugin "no-such-plugin" cannot be run: No such file or directory',
            "see https://plug.example",
        ),
        (
            {"exec": {"apiVersion": VERSION, "command": "no-such-plugin"}},
            'the credential plugin "no-such-plugin" cannot be run: No such file or directory',
            "install it, or put it on PATH",
        ),
        (
            {
                "exec": {
                    "apiVersion": VERSION,
                    "command": "sh",
                    "args": ["-c", "echo session over >&2; exit 3"],
                }
            },
            'the credential plugin "sh" fails with exit status 3: session over',
            "sign in there first",
        ),
        (
            {
                "exec": {
                    "apiVersion": VERSION,
                    "command": "sh",
                    "args": ["-c", "read name || exit 4; sleep 60"],
                }
            },
            'the credential plugin "sh" fails with exit status 4',
            "sign in there first",
        ),
        (
            {"exec": {"apiVersion": VERSION, "command": "sleep", "args": ["60"]}},
            'the credential plugin "sleep" has not answered in time',
            "sign in there first",
        ),
        (
            {"client-certificate": "gone.crt", "client-key": "gone.key"},
            "a file that its kubeconfig names as client-certificate, client-key cannot be read",
            "is it there",
        ),
        ({"tokenFile": "gone"}, "the tokenFile that its kubeconfig names is not there", ""),
    ],
)
def test_users_that_do_not_work(user: Any, why: str, hint: str) -> None:
    with api_server() as api:
        kubefleet(api)
        said = refused(api.kubeconfig(user), "--timeout", "3")
        assert f"the hub (context x, 127.0.0.1:{api.server.server_port}): " in said
    assert why in said
    assert hint in said


def test_a_kubeconfig_without_a_current_context() -> None:
    config = yaml.safe_load(kubeconfig({"server": "http://127.0.0.1:1"}, {}))
    del config["current-context"]
    said = refused(yaml.safe_dump(config))
    assert "hub: the hub: has no current-context\n  hint: choose with --context: x" in said


def test_paths_of_a_kubeconfig_are_relative_to_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reads(monkeypatch)
    with api_server() as api:
        kubefleet(api)
        (tmp_path / "keys").mkdir()
        (tmp_path / "keys" / "token").write_text("t")
        (tmp_path / "keys" / "config").write_text(api.kubeconfig({"tokenFile": "token"}))
        done = CliRunner().invoke(fleet, ["observe", "--hub", "keys/config", "--out", "out"])
        assert done.exit_code == 0, done.output
        assert set(api.headers) == {"Bearer t"}
