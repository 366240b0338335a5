"""Credential plugins, kubelogin above all: called as the kubeconfig says, never asked anything, told without secrets."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

import pytest
import yaml
from lightkube import KubeConfig

from fleet_components.live.connection import ask_cluster
from fleet_components.live.credentials import credential, signing_in
from fleet_components.live.getting import Unreachable, getter
from fleet_components.model.problem import FleetError
from tests.live.api_server import api_server, kubeconfig
from tests.live.plugins import gives, program

CANARY = "SWORDFISH"
AZURES = [
    "get-token",
    "--environment",
    "AzurePublicCloud",
    "--server-id",
    "6dae42f8",
    "--client-id",
    "80faf920",
]
AZURES += ["--tenant-id", "72f988bf", "--login", "devicecode"]
"""The arguments in the kubeconfig that Azure gives."""


def plugin(*args: str, command: str = "kubelogin", **env: str) -> Any:
    given = [{"name": name, "value": value} for name, value in env.items()]
    told = {
        "apiVersion": "client.authentication.k8s.io/v1beta1",
        "command": command,
        "args": list(args),
        "env": given,
    }
    config = KubeConfig.from_dict(
        yaml.safe_load(kubeconfig({"server": "https://127.0.0.1:1"}, {"exec": told}))
    ).get()
    assert config is not None
    assert config.user is not None
    return config.user.exec


def failure(found: Any, seconds: float = 20.0) -> str:
    with pytest.raises(FleetError) as caught:
        credential(found, time.monotonic() + seconds)
    assert CANARY not in str(caught.value)
    return str(caught.value)


def test_a_hub_gets_the_token_of_kubelogin(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    kubelogin = program(monkeypatch, tmp_path, "kubelogin", gives(CANARY))
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    user = {
        "exec": {
            "apiVersion": "client.authentication.k8s.io/v1beta1",
            "command": "kubelogin",
            "args": AZURES,
        }
    }
    with api_server() as api:
        api.objects["/api/v1/namespaces/kube-system"] = {
            "metadata": {"name": "kube-system", "uid": "5f3c"}
        }
        text = api.kubeconfig(user)
        assert ask_cluster(text).uid == "5f3c"
        assert set(api.headers) == {f"Bearer {CANARY}"}
    (call,) = kubelogin.calls
    assert call["args"] == AZURES
    assert '"interactive": false' in call["asked"]


def test_a_converted_kubeconfig_signs_in_without_anybody(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    kubelogin = program(monkeypatch, tmp_path, "kubelogin", gives(CANARY))
    monkeypatch.setenv("AAD_LOGIN_METHOD", "devicecode")  # wins over the argument
    user = {
        "exec": {
            "apiVersion": "client.authentication.k8s.io/v1beta1",
            "command": "kubelogin",
            "args": AZURES,
        }
    }
    converted = signing_in(
        kubeconfig({"server": "https://127.0.0.1:1"}, user), "azurecli", {}, alone=True
    )
    (found,) = yaml.safe_load(converted)["users"]
    told = found["user"]["exec"]
    assert credential(
        plugin(*told["args"], **{item["name"]: item["value"] for item in told["env"]}), _later()
    ).token
    (call,) = kubelogin.calls
    args = [
        "get-token",
        "--environment",
        "AzurePublicCloud",
        "--server-id",
        "6dae42f8",
        "--login",
        "azurecli",
    ]
    assert (call["args"], call["mode"]) == (args, "azurecli")


def test_kubelogin_that_is_not_there(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    told = failure(plugin(*AZURES))
    assert 'the credential plugin "kubelogin" cannot be run: No such file or directory' in told
    assert "put kubelogin on PATH: `az aks install-cli` installs it" in told
    assert "az aks" not in failure(plugin(command="gke-gcloud-auth-plugin"))


@pytest.mark.parametrize(
    ("args", "hint"),
    [
        (AZURES, "run `kubelogin convert-kubeconfig -l azurecli`"),
        (["get-token", "--server-id", "x"], "run `kubelogin convert-kubeconfig -l azurecli`"),
        (["get-token", "-l", "azurecli"], "run `az login`"),
        (["get-token", "--login", "workloadidentity"], "its login mode is workloadidentity"),
    ],
)
def test_kubelogin_that_fails(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, args: list[str], hint: str
) -> None:
    program(
        monkeypatch,
        tmp_path,
        "kubelogin",
        "sys.exit('Error: failed to get token: AADSTS50079: enrol')",
    )
    told = failure(plugin(*args))
    assert "fails with exit status 1: Error: failed to get token: AADSTS50079: enrol" in told
    assert hint in told


def test_its_words_are_told_without_what_it_was_given(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """From the kubeconfig's environment, from its arguments, from the surroundings, and whatever looks like a token."""
    said = "'--client-secret', sys.argv[2], os.environ['MINE'], os.environ['AZURE_CLIENT_SECRET'], 'eyJhbGciOi.eyJzdWI.s'"
    program(
        monkeypatch,
        tmp_path,
        "kubelogin",
        f"sys.stderr.write(' '.join([{said}, 'a' * 50])); sys.exit(3)",
    )
    monkeypatch.setenv("AZURE_CLIENT_SECRET", f"{CANARY}-outside")
    told = failure(plugin("--client-secret", f"{CANARY}-argument", MINE=f"{CANARY}-inside"))
    assert (
        "fails with exit status 3: --client-secret [hidden] [hidden] [hidden] [hidden] [hidden]"
        in told
    )


@pytest.mark.long
def test_a_prompt_does_not_hang_and_nothing_stays_behind(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """No input, no terminal; and what the plugin has started, as kubelogin starts az, ends with it."""
    child = tmp_path / "child"
    code = (
        "import subprocess; print('To sign in, enter the code SWORDFISH', file=sys.stderr)\n"
        "assert not sys.stdin.read()\n"
        "try:\n    open('/dev/tty')\nexcept OSError:\n    pass\nelse:\n    sys.exit('has a terminal')\n"
        f"open({str(child)!r}, 'w').write(str(subprocess.Popen(['sleep', '60']).pid)); time.sleep(60)"
    )
    program(monkeypatch, tmp_path, "kubelogin", code)
    begun = time.monotonic()
    told = failure(plugin(*AZURES), 2.0)
    assert time.monotonic() - begun < 20
    assert (
        'the credential plugin "kubelogin" has not answered in time (it asks somebody to sign in'
        in told
    )
    _ends(int(child.read_text()))


@pytest.mark.parametrize(
    "answer", ["", "no JSON SWORDFISH", "[]", "{}", '{"status": {}}', '{"status": {"token": ""}}']
)
def test_an_answer_without_a_credential(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, answer: str
) -> None:
    program(monkeypatch, tmp_path, "kubelogin", f"print({answer!r})")
    assert "gives no credential" in failure(plugin(*AZURES))


def test_the_hub_that_cannot_be_asked_says_why(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    user = {
        "exec": {
            "apiVersion": "client.authentication.k8s.io/v1beta1",
            "command": "kubelogin",
            "args": AZURES,
        }
    }
    with (
        pytest.raises(Unreachable) as caught,
        getter(kubeconfig({"server": "https://127.0.0.1:1"}, user), 5.0),
    ):
        pass
    assert "put kubelogin on PATH" in caught.value.hint


def _later() -> float:
    return time.monotonic() + 20


def _ends(pid: int) -> None:
    """Wait for the end of a process of which this one is not the parent."""
    for _ in range(100):
        try:
            os.kill(pid, 0)
            if "Z" in Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[:1]:
                return
        except (ProcessLookupError, FileNotFoundError):
            return
        time.sleep(0.05)
    raise AssertionError(f"process {pid} is still there")
