"""Nothing is fetched by what builds objects: an address in any field is refused, and no tool is started."""

from __future__ import annotations

import shutil
import subprocess
import textwrap
import threading
from collections.abc import Iterator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from fleet_components.content import tool
from fleet_components.content.load import load
from fleet_components.model.problem import FleetError, Problem
from tests.tools import stand_ins

URL = "http://127.0.0.1:PORT/x"
MAP = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: prices}\n"
_BUILTIN = "apiVersion: builtin\nmetadata: {name: a}\n"


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
            "resources": f"components: ['{URL}']",
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
    "an inline plug-in": {"kustomization.yaml": inline("generators", f"kind: ConfigMapGenerator\nfiles: ['{URL}']\n")},
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
        f"  patch: |\n    [{{op: replace, path: /files, value: ['{URL}']}}]\n",
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
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"127.0.0.1:{server.server_port}", asked
    server.shutdown()
    thread.join()
    server.server_close()


def write(folder: Path, files: Mapping[str, str], address: str) -> Path:
    for name, text in {"a.yaml": MAP, **files}.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text.replace("127.0.0.1:PORT", address))
    return folder


@pytest.mark.parametrize("files", FIELDS.values(), ids=FIELDS)
def test_an_address_in_any_field_starts_no_tool(
    files: Mapping[str, str], address: tuple[str, list[str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tools = stand_ins(tmp_path / "tools", monkeypatch)
    tools.printing("kustomize", MAP)
    with pytest.raises(FleetError) as refused:
        load(write(tmp_path / "shop", files, address[0]))
    assert not tools.calls
    assert all(problem.file and problem.file.startswith(str(tmp_path / "shop")) for problem in refused.value.problems)


VALUES: Mapping[str, dict[str, str]] = {
    "a literal": {"kustomization.yaml": f"configMapGenerator: [{{name: b, literals: ['k={URL}']}}]"},
    "an annotation": {"kustomization.yaml": f"resources: [a.yaml]\ncommonAnnotations: {{docs: '{URL}'}}"},
    "a patch": {
        "kustomization.yaml": f'resources: [a.yaml]\npatches: [{{patch: \'[{{"op": "add", "path": "/data", "value": {{"a": "{URL}"}}}}]\', target: {{kind: ConfigMap}}}}]'
    },
    "a merge patch": {
        "kustomization.yaml": "resources: [a.yaml]\npatchesStrategicMerge:\n- |\n"
        + textwrap.indent(f"{MAP}data: {{a: '{URL}'}}\n", "  ")
    },
    "a resource": {"kustomization.yaml": "resources: [b.yaml]", "b.yaml": f"{MAP}data: {{a: '{URL}'}}\n"},
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


def test_a_schema_of_a_chart_refers_to_no_address(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tools = stand_ins(tmp_path / "tools", monkeypatch)
    tools.printing("helm", MAP)
    files = {
        "Chart.yaml": "name: shop",
        "values.schema.json": '{"$schema": "http://json-schema.org/schema#", "properties": {"a": {"type": "string"}}}',
        "charts/db/values.schema.json": f'{{"$ref": "{URL}"}}',
    }
    with pytest.raises(FleetError, match="is an address"):
        load(write(tmp_path / "shop", files, "127.0.0.1:1"))
    assert not tools.calls
    (tmp_path / "shop/charts/db/values.schema.json").unlink()
    assert load(tmp_path / "shop")
