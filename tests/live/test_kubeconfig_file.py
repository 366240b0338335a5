"""A kubeconfig with its context: what kubectl would do with it, or an error that shows nothing of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from fleet_components.live.kubeconfig_file import context_of
from fleet_components.model.problem import FleetError
from tests.live.api_server import CANARY


def written(
    folder: Path, current: str = "east", cluster: Any = None, user: Any = None, **more: Any
) -> Path:
    config = {
        "current-context": current,
        "contexts": [
            {"name": name, "context": {"cluster": name, "user": "u"}} for name in ("east", "west")
        ],
        "clusters": [
            {"name": name, "cluster": {"server": f"https://{name}", **(cluster or {})}}
            for name in ("east", "west")
        ],
        "users": [{"name": "u", "user": {"token": CANARY, **(user or {})}}],
        **more,
    }
    (folder / "config").write_text(yaml.safe_dump(config))
    return folder / "config"


def read(path: Path, context: str = "") -> Any:
    config = yaml.safe_load(context_of(path, context, subject="the hub"))
    (cluster,), (user,), (found,) = config["clusters"], config["users"], config["contexts"]
    assert config["current-context"] == found["name"] == (context or "east")
    assert (found["context"]["cluster"], found["context"]["user"]) == (
        cluster["name"],
        user["name"],
    )
    return cluster["cluster"], user["user"]


def wrong(path: Path, context: str = "") -> str:
    with pytest.raises(FleetError) as error:
        context_of(path, context, subject="the hub")
    assert CANARY not in str(error.value)
    return str(error.value)


@pytest.mark.parametrize(("context", "server"), [("", "https://east"), ("west", "https://west")])
def test_one_context_is_left(tmp_path: Path, context: str, server: str) -> None:
    assert read(written(tmp_path), context) == ({"server": server}, {"token": CANARY})


def test_paths_are_relative_to_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    command = {"command": "bin/login", "apiVersion": "v1"}
    user = {
        "client-certificate": "u.crt",
        "client-key": "/keys/u.key",
        "tokenFile": "t",
        "exec": command,
    }
    written(tmp_path, cluster={"certificate-authority": "pki/ca.crt"}, user=user)
    cluster, found = read(Path("../config"))
    assert cluster["certificate-authority"] == str(tmp_path / "pki/ca.crt")
    assert (found["client-certificate"], found["client-key"]) == (
        str(tmp_path / "u.crt"),
        "/keys/u.key",
    )
    assert (found["tokenFile"], found["exec"]["command"]) == (
        str(tmp_path / "t"),
        str(tmp_path / "bin/login"),
    )


def test_a_command_without_a_folder_is_looked_up(tmp_path: Path) -> None:
    path = written(tmp_path, user={"exec": {"command": "kubelogin", "apiVersion": "v1"}})
    assert read(path)[1]["exec"]["command"] == "kubelogin"


@pytest.mark.parametrize(
    ("made", "context", "said"),
    [
        ({"current": ""}, "", "has no current-context (choose with --context: east, west)"),
        ({"current": "gone"}, "", 'has no context "gone"'),
        ({}, "wets", "did you mean west?"),
        (
            {"clusters": [{"name": "other", "cluster": {"server": CANARY}}]},
            "",
            "is not in the file",
        ),
        ({"users": []}, "", "is not in the file"),
        (
            {"user": {"as": "somebody"}},
            "",
            'the user of the context has the field "as", which is not carried out',
        ),
        (
            {"cluster": {"proxy-url": CANARY}},
            "",
            'the cluster of the context has the field "proxy-url", which',
        ),
        ({"cluster": {"tls-server-name": CANARY}}, "", "tls-server-name"),
        ({"user": {"auth-provider": {"name": CANARY}}}, "", "auth-provider"),
        ({"users": [CANARY]}, "", "is not one"),
        ({"users": [{"name": "u", "user": CANARY}]}, "", "is not one"),
        ({"clusters": CANARY}, "", "is not a kubeconfig"),
        ({"contexts": []}, "", "is not a kubeconfig"),
    ],
)
def test_what_does_not_lead_to_a_cluster(
    tmp_path: Path, made: dict[str, Any], context: str, said: str
) -> None:
    assert said in wrong(written(tmp_path, **made), context)


def test_what_is_no_file(tmp_path: Path) -> None:
    assert "cannot be read: No such file or directory" in wrong(tmp_path / "gone")
    assert "the hub" in wrong(tmp_path)
    (tmp_path / "text").write_text(CANARY)
    assert "is not a kubeconfig" in wrong(tmp_path / "text")
