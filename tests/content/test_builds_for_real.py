"""Charts and kustomizations by the real tools, where they are on PATH."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from fleet_components.content.catalogue import Catalogue
from fleet_components.content.load import load
from fleet_components.model.problem import FleetError, Problem
from tests.tools import HELM, KUSTOMIZE

CHART = {
    "Chart.yaml": "{apiVersion: v2, name: shop, version: 1.0.0}",
    "values.yaml": "replicas: 1\nimage: {name: nginx, tag: old}\n",
    "templates/web.yaml": """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: {{ .Release.Name }}, labels: {kube: "v{{ .Capabilities.KubeVersion.Minor }}"}}
spec:
  replicas: {{ .Values.replicas }}
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: "{{ .Values.image.name }}:{{ .Values.image.tag }}"}]}
---
apiVersion: v1
kind: Service
metadata: {name: {{ .Release.Name }}}
spec: {ports: [{port: 80}], selector: {app: web}}
---
# Nothing here.
""",
    "templates/monitor.yaml": """\
{{- if .Capabilities.APIVersions.Has "example.com/v1/Monitor" }}
apiVersion: example.com/v1
kind: Monitor
metadata: {name: {{ .Release.Name }}}
{{- end }}
""",
    "templates/migrate.yaml": """\
apiVersion: batch/v1
kind: Job
metadata: {name: migrate, annotations: {"helm.sh/hook": "pre-install,pre-upgrade"}}
spec: {template: {spec: {restartPolicy: Never, containers: [{name: migrate, image: nginx}]}}}
""",
    "templates/tests/try.yaml": """\
apiVersion: v1
kind: Pod
metadata: {name: try, annotations: {"helm.sh/hook": test}}
spec: {containers: [{name: try, image: nginx}]}
""",
    "templates/NOTES.txt": "Thank you for {{ .Release.Name }}.",
    "crds/widgets.yaml": "".join(
        f"""\
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {{name: {kind.lower()}s.example.com}}
spec:
  group: example.com
  scope: {scope}
  names: {{kind: {kind}, plural: {kind.lower()}s}}
  versions: [{{name: v1, served: true, storage: true, schema: {{openAPIV3Schema: {{type: object}}}}}}]
"""
        for kind, scope in (("Widget", "Namespaced"), ("Gadget", "Cluster"))
    ),
    "charts/cache/Chart.yaml": "{apiVersion: v2, name: cache, version: 1.0.0}",
    "charts/cache/templates/all.yaml": """\
apiVersion: v1
kind: ConfigMap
metadata: {name: cache}
data: {size: "{{ .Values.size }}"}
---
apiVersion: example.com/v1
kind: Gadget
metadata: {name: cache}
""",
}
DECLARATION = """\
apiVersion: fleet-components/v1
kind: Chart
metadata: {name: web}
spec:
  path: charts/shop
  namespace: shopping
  valueFiles: [all.yaml, eu.yaml]
  values: {image: {tag: "1.27,5=x"}}
  kubeVersion: "1.29"
  apiVersions: [example.com/v1/Monitor]
"""


def write(files: Mapping[str, str], folder: str = ".") -> None:
    for name, text in files.items():
        path = Path(folder, name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


@pytest.fixture(autouse=True)
def _inside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def objects(*sources: str, warnings: list[Problem] | None = None) -> dict[str, Any]:
    return {
        str(manifest.key): manifest.data
        for manifest in Catalogue.of(load(*sources, warnings=warnings)).manifests
    }


@HELM
def test_a_chart_comes_out_as_helm_would_install_it() -> None:
    write(CHART, "charts/shop")
    write(
        {
            "shop.yaml": DECLARATION,
            "all.yaml": "replicas: 2\ncache: {size: 7}",
            "eu.yaml": "replicas: 3",
        }
    )
    warnings: list[Problem] = []
    found = objects(".", warnings=warnings)
    assert set(found) == {
        "ConfigMap shopping/cache",
        "CustomResourceDefinition gadgets.example.com",
        "CustomResourceDefinition widgets.example.com",
        "Deployment shopping/web",
        "Gadget cache",
        "Monitor shopping/web",
        "Service shopping/web",
    }
    web = found["Deployment shopping/web"]
    assert web["metadata"]["labels"]["kube"] == "v29"
    assert web["spec"]["replicas"] == 3
    assert web["spec"]["template"]["spec"]["containers"][0]["image"] == "nginx:1.27,5=x"
    assert found["ConfigMap shopping/cache"]["data"] == {"size": "7"}
    (warning,) = map(str, warnings)
    assert "1 hook of the chart passed over: Job migrate (pre-install,pre-upgrade)" in warning


@HELM
def test_a_chart_without_settings() -> None:
    write(CHART, "chart")
    found = objects("chart")
    assert {
        "Deployment default/shop",
        "Service default/shop",
        "ConfigMap default/cache",
        "Gadget cache",
    } <= set(found)
    assert found["Deployment default/shop"]["spec"]["replicas"] == 1


@HELM
def test_objects_are_told_with_their_templates() -> None:
    write(CHART, "charts/shop")
    places = {str(item.key): item.origin and item.origin.location for item in load("charts/shop")}
    assert places["Service default/shop"] == "charts/shop/templates/web.yaml"
    assert places["ConfigMap default/cache"] == "charts/shop/charts/cache/templates/all.yaml"
    assert {place for key, place in places.items() if key.startswith("Custom")} == {
        "charts/shop/crds/widgets.yaml"
    }


@HELM
@pytest.mark.parametrize(
    ("template", "varies"),
    [
        ("password: {{ randAlphaNum 24 | quote }}", True),
        ("password: {{ .Values.password | default (randAlphaNum 24) | quote }}", True),
        ("password: {{ .Values.given | default (randAlphaNum 24) | quote }}", False),
        ('password: {{ "fixed" | sha256sum | quote }}', False),
    ],
)
def test_passwords_that_are_made_up_are_said(template: str, varies: bool) -> None:
    secret = "apiVersion: v1\nkind: Secret\nmetadata: {name: pay}\nstringData:\n  "
    write(
        CHART
        | {
            "templates/pay.yaml": secret + template,
            "values.yaml": CHART["values.yaml"] + "given: known",
        },
        "shop",
    )
    warnings: list[Problem] = []
    objects("shop", warnings=warnings)
    told = [str(warning) for warning in warnings if "otherwise each time" in str(warning)]
    assert [text.partition(":")[0] for text in told] == ["shop/templates/pay.yaml"] * varies


BROKEN: Mapping[str, tuple[dict[str, str], str]] = {
    "a template that fails": (
        {"templates/web.yaml": '{{ fail "choose a region" }}'},
        "shop: helm ended with exit status 1: Error: ",
    ),
    "a dependency that is not there": (
        {
            "Chart.yaml": CHART["Chart.yaml"].replace(
                "}", ", dependencies: [{name: redis, version: 1.x, repository: x}]}"
            )
        },
        "missing in charts/ directory: redis",
    ),
    "no chart": ({"Chart.yaml": "a: ["}, "shop: helm ended with exit status 1: "),
    "no YAML": ({"templates/web.yaml": "a: b: c"}, "templates/web.yaml"),
}


@HELM
@pytest.mark.parametrize(("files", "what"), BROKEN.values(), ids=BROKEN)
def test_what_helm_refuses_is_told(files: dict[str, str], what: str) -> None:
    write(CHART | files, "shop")
    with pytest.raises(FleetError) as caught:
        load("shop")
    (problem,) = caught.value.problems
    assert what in str(problem)


OVERLAY = {
    "base/kustomization.yaml": "resources: [web.yaml]\nconfigMapGenerator: [{name: env, envs: [some.env]}]\n",
    "base/some.env": "A=1\nTOKEN\n",
    "base/web.yaml": "apiVersion: v1\nkind: Service\nmetadata: {name: web}\nspec: {ports: [{port: 80}]}\n",
    "overlays/prod/kustomization.yaml": "namespace: shopping\nnamePrefix: eu-\nresources: [../../base]\n",
    "shop.yaml": "{apiVersion: fleet-components/v1, kind: Kustomization, metadata: {name: shop}, "
    "spec: {path: overlays/prod}}",
}


@KUSTOMIZE
@pytest.mark.parametrize("sources", [(".",), ("overlays/prod",)])
def test_a_kustomization_comes_out_as_it_would_be_applied(
    sources: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """But for variables of the environment, which it may ask for: they may be secret."""
    monkeypatch.setenv("TOKEN", "planted")
    write(OVERLAY)
    found = objects(*sources)
    env, web = sorted(found)
    assert (env.startswith("ConfigMap shopping/eu-env-"), web) == (True, "Service shopping/eu-web")
    assert found[env]["data"] == {"A": "1", "TOKEN": ""}


@KUSTOMIZE
def test_links_lead_nowhere() -> None:
    write(OVERLAY | {"secret.yaml": OVERLAY["base/web.yaml"]})
    Path("base/web.yaml").unlink()
    Path("base/web.yaml").symlink_to("../secret.yaml")
    with pytest.raises(
        FleetError, match="kustomize ended with exit status 1: Error: accumulating resources"
    ):
        load("overlays/prod")


@KUSTOMIZE
@pytest.mark.parametrize(
    "field",
    [
        "patches: [{path: 'https://example.com/patch.yaml'}]",
        "generators: ['https://example.com/shop?ref=v1']",
        "helmCharts: [{name: shop, repo: 'https://example.com', version: 1.0.0}]",
    ],
)
def test_nothing_is_fetched(field: str) -> None:
    write(OVERLAY | {"overlays/prod/kustomization.yaml": f"resources: [../../base]\n{field}\n"})
    with pytest.raises(FleetError, match="is an address"):
        load(".")
