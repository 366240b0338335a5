"""Nothing is fetched by what builds objects: an address in any field is refused, and no tool is started."""

from __future__ import annotations

import base64
import json
import shutil
import subprocess
import textwrap
import threading
from collections.abc import Iterator, Mapping
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from fleet_components.content import tool
from fleet_components.content.kustomization import Kustomization
from fleet_components.content.load import load
from fleet_components.model.problem import FleetError, Problem
from tests.tools import stand_ins

URL = "http://127.0.0.1:PORT/x"
MAP = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: prices}\n"
_BUILTIN = "apiVersion: builtin\nmetadata: {name: a}\n"


BASE64 = "aHR0cDovLzEyNy4wLjAuMTpQT1JUL3g="
"""URL, which is written with the port that there is."""
LIKE_A_PATH = (
    f"&a {{apiVersion: builtin, kind: ConfigMapGenerator, metadata: {{name: b}}, files: ['{URL}']}}"
)
PUT_TOGETHER = [
    {
        "source": {"kind": "ConfigMapGenerator", "fieldPath": f"metadata.annotations.part{n}"},
        "targets": [
            {
                "select": {"kind": "ConfigMapGenerator"},
                "fieldPaths": ["files.0"],
                "options": {"delimiter": ":", "index": n},
            }
        ],
    }
    for n in range(3)
]
COMPONENT = {"apiVersion": "kustomize.config.k8s.io/v1alpha1", "kind": "Component"}
REPOSITORIES = (
    "github.com/example/shop",
    "GitHub.com/example/shop//base?ref=main",
    "github.com:example/shop",
    "git::github.com/example/shop",
    "git@example.com:example/shop",
    "me@example.com/example/shop.git",
    "gh:example/shop",
)


def inline(field: str, text: str) -> str:
    return f"resources: [a.yaml]\n{field}:\n- |\n{textwrap.indent(_BUILTIN + text, '  ')}"


FIELDS: Mapping[str, dict[str, str]] = {
    **{
        f"{name} of a kustomization": {"kustomization.yaml": f"resources: [a.yaml]\n{text}"}
        for name, text in {
            "files": f"configMapGenerator: [{{name: b, files: ['{URL}']}}]",
            "files with a key": f"configMapGenerator: [{{name: b, files: ['k={URL}']}}]",
            "files in other letters": f"configMapGenerator: [{{name: b, files: ['{URL.replace('http', 'HTTP')}']}}]",
            "files by escapes": f'configMapGenerator: [{{name: b, files: ["{URL.replace("http", chr(92) + "x68ttp")}"]}}]',
            "env": f"configMapGenerator: [{{name: b, env: '{URL}'}}]",
            "envs": f"configMapGenerator: [{{name: b, envs: ['{URL}']}}]",
            "files of a Secret": f"secretGenerator: [{{name: b, files: ['{URL}']}}]",
            "components": f"components: ['{URL}/shop']",
            "patches": f"patches: [{{path: '{URL}'}}]",
            "merge patches": f"patchesStrategicMerge: ['{URL}']",
            "JSON patches": f"patchesJson6902: [{{target: {{kind: ConfigMap, name: prices, version: v1}}, path: '{URL}'}}]",
            "replacements": f"replacements: [{{path: '{URL}'}}]",
            "configurations": f"configurations: ['{URL}']",
            "crds": f"crds: ['{URL}']",
            "openapi": f"openapi: {{path: '{URL}'}}",
            "transformers": f"transformers: ['{URL}']",
            "generators": f"generators: ['{URL}']",
            "validators": f"validators: ['{URL}']",
            "a repository as a plug-in": "generators: ['github.com/example/shop']",
            "a chart": f"helmCharts: [{{name: b, repo: '{URL}'}}]",
            "what is YAML in a list": f"transformers: ['{{apiVersion: builtin, kind: PatchTransformer, metadata: {{name: a}}, path: \"{URL}\"}}']",
        }.items()
    },
    "an inline plug-in": {
        "kustomization.yaml": inline("generators", f"kind: ConfigMapGenerator\nfiles: ['{URL}']\n")
    },
    "literals of a plug-in that is a Secret": {
        "kustomization.yaml": inline("generators", f"kind: SecretGenerator\nenvs: ['{URL}']\n")
    },
    "an inline patch of a plug-in": {
        "kustomization.yaml": inline("transformers", f"kind: PatchTransformer\npath: '{URL}'\n")
    },
    "a plug-in in a file": {
        "kustomization.yaml": "resources: [a.yaml]\ngenerators: [g.yaml]",
        "g.yaml": f"{_BUILTIN}kind: ConfigMapGenerator\nfiles: ['{URL}']\n",
    },
    "a plug-in in a folder": {
        "kustomization.yaml": "resources: [a.yaml]\ntransformers: [in]",
        "in/kustomization.yaml": "resources: [g.yaml]",
        "in/g.yaml": f"{_BUILTIN}kind: PatchTransformer\npath: '{URL}'\n",
    },
    "a plug-in that a patch makes": {
        "kustomization.yaml": "resources: [a.yaml]\ngenerators: [in]",
        "in/kustomization.yaml": "resources: [g.yaml]\npatches:\n- target: {kind: ConfigMapGenerator}\n"
        f"  patch: |\n    - {{op: replace, path: /files, value: ['{URL}']}}\n",
        "in/g.yaml": f"{_BUILTIN}kind: ConfigMapGenerator\nfiles: [a]\n",
    },
    "a plug-in that a file patches": {
        "kustomization.yaml": "resources: [a.yaml]\ngenerators: [in]",
        "in/kustomization.yaml": "resources: [g.yaml]\npatches: [{path: p.json, target: {kind: ConfigMapGenerator}}]",
        "in/g.yaml": f"{_BUILTIN}kind: ConfigMapGenerator\nfiles: [a]\n",
        "in/p.json": f'[{{"op": "replace", "path": "/files", "value": ["{URL}"]}}]',
    },
    "a component": {
        "kustomization.yaml": "resources: [a.yaml]\ncomponents: [in]",
        "in/kustomization.yaml": "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\n"
        f"configMapGenerator: [{{name: b, files: ['{URL}']}}]",
    },
    **{
        f"a repository by its form, {form}": {
            "kustomization.yaml": f"resources: ['{form}']",
            f"{form}/kustomization.yaml": "resources: [a.yaml]",
            f"{form}/a.yaml": MAP,
        }
        for form in REPOSITORIES
    },
    "a repository of components": {"kustomization.yaml": "components: ['github.com/example/shop']"},
    "a file of a kustomization.yml": {
        "kustomization.yml": f"configMapGenerator: [{{name: b, files: ['{URL}']}}]"
    },
    "a file of a Kustomization": {
        "Kustomization": f"configMapGenerator: [{{name: b, files: ['{URL}']}}]"
    },
    "an alias": {
        "kustomization.yaml": f"resources: [a.yaml]\nnamePrefix: &a '{URL}'\nconfigMapGenerator: [{{name: b, files: [*a]}}]"
    },
    "base64": {
        "kustomization.yaml": f"configMapGenerator: [{{name: b, files: [!!binary {BASE64}]}}]"
    },
    "base64 in a plug-in": {
        "kustomization.yaml": "resources: [a.yaml]\ngenerators: [g.yaml]",
        "g.yaml": f"{_BUILTIN}kind: ConfigMapGenerator\nfiles: [!!binary {BASE64}]\n",
    },
    "base64 in a plug-in by its long tag": {
        "kustomization.yaml": "resources: [a.yaml]\ngenerators: [g.yaml]",
        "g.yaml": f"{_BUILTIN}kind: ConfigMapGenerator\nfiles: [!<tag:yaml.org,2002:binary> {BASE64}]\n",
    },
    "the second document of a plug-in": {
        "kustomization.yaml": "resources: [a.yaml]\ngenerators: [g.yaml]",
        "g.yaml": f"{_BUILTIN}kind: ConfigMapGenerator\nliterals: [a=b]\n---\n"
        f"{_BUILTIN.replace('name: a', 'name: b')}kind: ConfigMapGenerator\nfiles: ['{URL}']\n",
    },
    "a plug-in in a list": {
        "kustomization.yaml": "resources: [a.yaml]\ngenerators: [g.yaml]",
        "g.yaml": "apiVersion: v1\nkind: List\nitems:\n"
        f"- {{apiVersion: builtin, kind: ConfigMapGenerator, metadata: {{name: a}}, files: ['{URL}']}}\n",
    },
    "a plug-in that looks like a path": {
        "kustomization.yaml": f'resources: [a.yaml]\ngenerators: ["{LIKE_A_PATH}"]',
        LIKE_A_PATH: MAP,
    },
    "a plug-in that replacements put together": {
        "kustomization.yaml": "resources: [a.yaml]\ngenerators: [in]",
        "in/kustomization.yaml": json.dumps(
            {"resources": ["g.yaml"], "replacements": PUT_TOGETHER}
        ),
        "in/g.yaml": "apiVersion: builtin\nkind: ConfigMapGenerator\nfiles: ['0:1:2']\n"
        "metadata: {name: a, annotations: {part0: http, part1: //127.0.0.1, part2: 'PORT/x'}}\n",
    },
    "a plug-in that replacements in a component put together": {
        "kustomization.yaml": "resources: [a.yaml]\ngenerators: [in]",
        "in/kustomization.yaml": "resources: [g.yaml]\ncomponents: [../parts]",
        "parts/kustomization.yaml": json.dumps({**COMPONENT, "replacements": PUT_TOGETHER}),
        "in/g.yaml": "apiVersion: builtin\nkind: ConfigMapGenerator\nfiles: ['0:1:2']\n"
        "metadata: {name: a, annotations: {part0: http, part1: //127.0.0.1, part2: 'PORT/x'}}\n",
    },
    "a base": {
        "kustomization.yaml": "resources: [in]",
        "in/kustomization.yaml": f"resources: [../a.yaml]\nopenapi: {{path: '{URL}'}}",
    },
}


@pytest.fixture
def address() -> Iterator[tuple[str, list[str]]]:
    """A server on the local host: its address, and the paths that it was asked for."""
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"a: fetched\n")

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield f"127.0.0.1:{server.server_port}", asked
    server.shutdown()
    thread.join()
    server.server_close()


def write(folder: Path, files: Mapping[str, str], address: str) -> Path:
    encoded = base64.b64encode(URL.replace("127.0.0.1:PORT", address).encode()).decode()
    for name, text in {"a.yaml": MAP, **files}.items():
        path = folder / name.replace("127.0.0.1:PORT", address)
        path.parent.mkdir(parents=True, exist_ok=True)
        text = text.replace("127.0.0.1:PORT", address).replace(BASE64, encoded)
        path.write_text(text.replace("PORT", address.partition(":")[2]))
    return folder


@pytest.mark.parametrize("files", FIELDS.values(), ids=FIELDS)
def test_an_address_in_any_field_starts_no_tool(
    files: Mapping[str, str],
    address: tuple[str, list[str]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tools = stand_ins(tmp_path / "tools", monkeypatch)
    tools.printing("kustomize", MAP)
    with pytest.raises(FleetError) as refused:
        load(write(tmp_path / "shop", files, address[0]))
    assert not tools.calls
    assert all(
        problem.file and problem.file.startswith(str(tmp_path / "shop"))
        for problem in refused.value.problems
    )


BEFORE = ("a repository by its form, gh:example/shop", "a chart of a kustomization")
"""Rows that no kustomize of today fetches: a form before v5, and charts without --enable-helm."""
TODAY = [name for name in FIELDS if name not in BEFORE]


@pytest.mark.parametrize("files", [FIELDS[name] for name in TODAY], ids=TODAY)
def test_kustomize_fetches_what_is_refused(
    files: Mapping[str, str],
    address: tuple[str, list[str]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    kustomize = shutil.which("kustomize") or shutil.which("kubectl")
    if kustomize is None:
        pytest.skip("kustomize is not on PATH")
    tools = stand_ins(tmp_path / "tools", monkeypatch)  # without unshare
    tools.add("git", "exit 1")
    tools.add(Path(kustomize).name, f'exec "{kustomize}" "$@"')
    folder = write(tmp_path / "shop", files, address[0])
    with suppress(tool.ToolError):
        Kustomization(folder=folder, root=folder).build([])
    assert address[1] or "git" in tools.calls
    address[1].clear()
    with pytest.raises(FleetError):
        load(folder)
    assert not address[1]


LOCAL = (
    "./github.com/example/shop",
    "org/repo",
    "host.xz/path.git",
    "shop@v1",
    "./me@v1/shop",
    "in//base",
)


@pytest.mark.parametrize("form", LOCAL)
def test_a_folder_that_kustomize_finds_here_is_built(
    form: str, address: tuple[str, list[str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tools = stand_ins(tmp_path / "tools", monkeypatch)
    tools.printing("kustomize", MAP)
    files = {"kustomization.yaml": f"resources: ['{form}']", f"{form}/kustomization.yaml": ""}
    assert load(write(tmp_path / "shop", files, address[0]))


VALUES: Mapping[str, dict[str, str]] = {
    "a literal": {
        "kustomization.yaml": f"configMapGenerator: [{{name: b, literals: ['k={URL}']}}]"
    },
    "an annotation": {
        "kustomization.yaml": f"resources: [a.yaml]\ncommonAnnotations: {{docs: '{URL}'}}"
    },
    "a patch": {
        "kustomization.yaml": f'resources: [a.yaml]\npatches: [{{patch: \'[{{"op": "add", "path": "/data", "value": {{"a": "{URL}"}}}}]\', target: {{kind: ConfigMap}}}}]'
    },
    "a merge patch": {
        "kustomization.yaml": "resources: [a.yaml]\npatchesStrategicMerge:\n- |\n"
        + textwrap.indent(f"{MAP}data: {{a: '{URL}'}}\n", "  ")
    },
    "plug-ins in a folder": {
        "kustomization.yaml": "resources: [a.yaml]\ngenerators: [in]",
        "in/kustomization.yaml": "resources: [g.yaml]",
        "in/g.yaml": f"{_BUILTIN}kind: ConfigMapGenerator\nliterals: [a=b]\n",
    },
    "a resource": {
        "kustomization.yaml": "resources: [b.yaml]",
        "b.yaml": f"{MAP}data: {{a: '{URL}'}}\n",
    },
}


@pytest.mark.parametrize("files", VALUES.values(), ids=VALUES)
def test_an_address_that_is_a_value_is_fetched_by_nobody(
    files: Mapping[str, str], address: tuple[str, list[str]], tmp_path: Path
) -> None:
    if shutil.which("kubectl") is None and shutil.which("kustomize") is None:
        pytest.skip("kustomize is not on PATH")
    warnings: list[Problem] = []
    assert load(write(tmp_path, files, address[0]), warnings=warnings)
    assert not address[1]


def test_a_tool_has_no_network_where_linux_gives_it_none(address: tuple[str, list[str]]) -> None:
    unshare, curl = shutil.which("unshare"), shutil.which("curl")
    if not unshare or not curl or subprocess.run([unshare, "-rn", "true"], check=False).returncode:
        pytest.skip("this system gives no network of its own")
    subprocess.run([curl, "-s", f"http://{address[0]}/before"], check=True, capture_output=True)
    with pytest.raises(tool.ToolError, match="exit status 7"):
        tool.run_tool(Path(curl), ["-s", "--noproxy", "*", f"http://{address[0]}/after"])
    assert address[1] == ["/before"]
