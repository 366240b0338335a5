"""Charts and kustomizations: how the tools are called, what comes of it, and on what they are never run."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from fleet_components.content import tool
from fleet_components.content.catalogue import Catalogue
from fleet_components.content.files import Text
from fleet_components.content.load import load
from fleet_components.model.problem import FleetError, Problem
from tests.content.build import names
from tests.tools import StandIns, rendered, stand_ins

MAP = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: prices}\n"
CHART = "{apiVersion: fleet-components/v1, kind: Chart, metadata: {name: web}, spec: {path: shop}}"
KUSTOMIZATION = "{apiVersion: fleet-components/v1, kind: Kustomization, metadata: {name: web}, spec: {path: shop}}"
SETTINGS = """\
apiVersion: fleet-components/v1
kind: Chart
metadata: {name: web}
spec:
  path: charts/shop
  namespace: shopping
  valueFiles: [values/common.yaml, values/production.yaml]
  values: {image: {tag: "2.0"}, replicas: 3}
  kubeVersion: "1.36"
  apiVersions: [monitoring.coreos.com/v1, example.com/v1]
"""


@pytest.fixture
def tools(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> StandIns:
    """No tool is on PATH; the directory is that of the source."""
    found = stand_ins(tmp_path / "tools", monkeypatch)
    (tmp_path / "fleet").mkdir()
    monkeypatch.chdir(tmp_path / "fleet")
    return found


def write(files: Mapping[str, str]) -> None:
    for name, text in files.items():
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_text(text)


def refused(*sources: str | Path | Text) -> list[str]:
    with pytest.raises(FleetError) as caught:
        load(*sources)
    return [str(problem) for problem in caught.value.problems]


def test_a_chart_is_rendered_with_all_its_settings(tools: StandIns) -> None:
    tools.printing("helm", rendered("shop", [("templates/prices.yaml", MAP)]))
    tools.add("helm", f'/bin/cat > {tools.folder}/given; /bin/cat "{tools.folder}/helm.txt"')
    values = {"values/common.yaml": "a: 1", "values/production.yaml": "b: 2"}
    write(
        {
            "shop.yaml": SETTINGS,
            "charts/shop/Chart.yaml": "name: shop",
            "charts/shop/values.yaml": "c: 3",
            **values,
        }
    )
    (found,) = load(".")
    assert found.data["metadata"] == {"name": "prices", "namespace": "shopping"}
    wanted = [
        *(
            "helm",
            "template",
            "--namespace",
            "shopping",
            "--include-crds",
            "--skip-tests",
            "--kube-version",
            "1.36",
        ),
        *("--api-versions", "monitoring.coreos.com/v1", "--api-versions", "example.com/v1"),
        *(
            "--values",
            "./values/common.yaml",
            "--values",
            "./values/production.yaml",
            "--values",
            "-",
        ),
        *("--", "web", "./charts/shop"),
    ]
    assert tools.calls == wanted * 2, (
        "once for itself, and once to see whether it comes out the same"
    )
    assert json.loads((tools.folder / "given").read_text()) == {
        "image": {"tag": "2.0"},
        "replicas": 3,
    }


@pytest.mark.parametrize("text", ["", "name: [", "- shop", "name: 3", "name: ''", "version: 1.0.0"])
def test_of_a_chart_that_is_none_helm_says_so(tools: StandIns, text: str) -> None:
    tools.add("helm", "echo 'Error: Chart.yaml file is missing' >&2; exit 1")
    write({"shop/Chart.yaml": text})
    (problem,) = refused("shop")
    assert "helm ended with exit status 1: Error: Chart.yaml file is missing" in problem
    assert tools.calls[-3:] == ["--", "release", "./shop"]


def test_a_chart_that_is_a_source_itself_has_its_own_name(tools: StandIns) -> None:
    tools.printing("helm", rendered("shop", [("templates/prices.yaml", MAP)]))
    write({"chart/Chart.yaml": "name: shop", "more.yaml": MAP.replace("prices", "more")})
    found = load("more.yaml", Path("chart").resolve())
    assert names(found) == ["ConfigMap more", "ConfigMap default/prices"]
    assert tools.calls[-3:] == ["--", "shop", str(Path("chart").resolve())]
    assert "default" in tools.calls


@pytest.mark.parametrize(
    ("installed", "wanted"),
    [
        (("kustomize",), ["kustomize", "build", "./shop"]),
        (("kubectl",), ["kubectl", "kustomize", "./shop"]),
        (("kustomize", "kubectl"), ["kustomize", "build", "./shop"]),
    ],
)
@pytest.mark.parametrize("file", ["kustomization.yaml", "kustomization.yml", "Kustomization"])
@pytest.mark.parametrize("declared", [True, False])
def test_a_kustomization_is_built_by_what_there_is(
    tools: StandIns, installed: tuple[str, ...], wanted: list[str], file: str, declared: bool
) -> None:
    for name in installed:
        tools.printing(name, MAP)
    write({f"shop/{file}": "resources: []"} | ({"web.yaml": KUSTOMIZATION} if declared else {}))
    (found,) = load("." if declared else "shop")
    assert names([found]) == ["ConfigMap prices"]
    assert tools.calls == wanted
    assert found.origin
    assert found.origin.location == f"shop/{file}"


def test_tools_see_little_of_the_environment_and_nothing_of_elsewhere(
    tools: StandIns, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in (
        "TOKEN",
        "HELM_PLUGINS",
        "NO_PROXY",
        "KUSTOMIZE_PLUGIN_HOME",
        "PULUMI_CONFIG_PASSPHRASE",
    ):
        monkeypatch.setenv(name, "planted")
    tools.printing("kustomize", MAP)
    tools.add(
        "kustomize", f'/usr/bin/env > {tools.folder}/seen; /bin/cat "{tools.folder}/kustomize.txt"'
    )
    write({"shop/kustomization.yaml": ""})
    load("shop")
    seen = dict(
        line.partition("=")[::2] for line in (tools.folder / "seen").read_text().splitlines()
    )
    assert "planted" not in seen.values()
    assert seen["PATH"] == str(tools.folder / "bin")
    assert {seen["HTTPS_PROXY"], seen["http_proxy"], seen["ALL_PROXY"]} == {"http://127.0.0.1:9"}
    assert (seen["GIT_ALLOW_PROTOCOL"], seen["KUBECONFIG"]) == ("", os.devnull)
    assert not Path(seen["HELM_PLUGINS"]).exists(), "it is gone with the run"


FAILURES: Mapping[str, tuple[str, str]] = {
    "its reason": (
        "echo 'Error: Chart.yaml file is missing' >&2; exit 3",
        "helm ended with exit status 3: Error: Chart.yaml file is missing",
    ),
    "many lines": (
        "for i in 1 2 3 4 5 6 7; do echo Error: template: a/b:$i: x >&2; echo >&2; done; exit 1",
        "helm ended with exit status 1: "
        + "".join(f"Error: template: a/b:{n}: hidden; " for n in range(1, 6))
        + "and 2 lines hidden",
    ),
    "lines of its own": ("echo some value >&2; exit 1", "helm ended with exit status 1: hidden"),
    "no reason": ("exit 1", "helm ended with exit status 1: it says nothing"),
    "killed": ("kill -9 $$", "helm ended with exit status -9: it says nothing"),
    "no text": ("printf '\\377'", "helm printed what is not UTF-8"),
}


@pytest.mark.parametrize(("script", "what"), FAILURES.values(), ids=FAILURES)
@pytest.mark.parametrize("declared", [True, False])
def test_a_tool_that_fails_is_quoted(
    tools: StandIns, script: str, what: str, declared: bool
) -> None:
    tools.add("helm", script)
    write({"shop/Chart.yaml": "name: shop"} | ({"web.yaml": CHART} if declared else {}))
    (problem,) = refused("." if declared else "shop")
    where = "web.yaml:1: Chart web: spec.path" if declared else "shop"
    release = "web" if declared else "shop"
    by_hand = f"helm template --namespace default --include-crds --skip-tests -- {release} ./shop > manifests.yaml"
    assert (
        problem
        == f"{where}: {what} (mend it, or build it elsewhere and give what comes out: {by_hand})"
    )


@pytest.mark.parametrize(
    ("files", "what"),
    [
        (
            {"shop/Chart.yaml": "name: shop"},
            "shop: is a Helm chart, and helm is not on PATH (install it, or build it",
        ),
        (
            {"shop/kustomization.yaml": ""},
            "shop: is a kustomization, and kustomize or kubectl is not on PATH (install it, or build it elsewhere and "
            "give what comes out: kustomize build shop > manifests.yaml)",
        ),
    ],
)
def test_a_missing_tool_is_named(tools: StandIns, files: Mapping[str, str], what: str) -> None:
    write(files)
    (problem,) = refused("shop")
    assert problem.startswith(what)


def test_what_cannot_be_started_is_named(tools: StandIns) -> None:
    (tools.folder / "bin/helm").write_text("no program")
    (tools.folder / "bin/helm").chmod(0o755)
    write({"shop/Chart.yaml": "name: shop"})
    (problem,) = refused("shop")
    assert "shop: helm cannot be started: " in problem


def test_a_tool_that_hangs_is_ended_with_all_that_it_has_started(
    tools: StandIns, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tool, "SECONDS", 0.5)
    tools.add("kustomize", f"/bin/sleep 60 & echo $! > {tools.folder}/child; wait")
    write({"shop/kustomization.yaml": ""})
    began = time.monotonic()
    (problem,) = refused("shop")
    assert problem.startswith("shop: kustomize took longer than 0.5 s")
    assert time.monotonic() - began < 10
    child = int((tools.folder / "child").read_text())
    assert _ended(child)


def _ended(process: int) -> bool:
    """Whether it is gone, or will be once somebody asks."""
    for _ in range(50):
        try:
            state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            return True
        if state == "Z":
            return True
        time.sleep(0.1)
    return False


def test_what_a_tool_says_besides_is_a_warning(tools: StandIns) -> None:
    tools.printing("helm", rendered("shop", [("templates/prices.yaml", MAP)]))
    tools.add("helm", f'echo "old API" >&2; /bin/cat "{tools.folder}/helm.txt"')
    write({"shop/Chart.yaml": "name: shop"})
    warnings: list[Problem] = []
    load("shop", warnings=warnings)
    (warning,) = map(str, warnings)
    assert warning.startswith("shop: helm says: hidden (see what is printed: helm template ")


def test_what_is_made_up_anew_each_time_is_a_warning(tools: StandIns) -> None:
    made_up = MAP.replace("prices", "made-up") + "data: {password: $$}\n"
    text = rendered(
        "shop", [("templates/prices.yaml", MAP), ("charts/db/templates/secret.yaml", made_up)]
    )
    tools.add("helm", f"/bin/cat <<END\n{text}END")
    write({"shop/Chart.yaml": "name: shop"})
    warnings: list[Problem] = []
    load("shop", warnings=warnings)
    (warning,) = map(str, warnings)
    assert warning.startswith(
        "shop/charts/db/templates/secret.yaml: is rendered otherwise each time"
    )


HOOK = 'apiVersion: batch/v1\nkind: Job\nmetadata: {{name: {}, annotations: {{"helm.sh/hook": "{}"}}}}\n'


def test_hooks_are_passed_over_by_name(tools: StandIns) -> None:
    hooks = [
        (f"templates/{n}.yaml", HOOK.format(f"step-{n}", "pre-install,pre-upgrade"))
        for n in range(7)
    ]
    tools.printing("helm", rendered("shop", [("templates/prices.yaml", MAP), *hooks]))
    write({"shop/Chart.yaml": "name: shop", "web.yaml": CHART})
    warnings: list[Problem] = []
    assert names(load(".", warnings=warnings)) == ["ConfigMap default/prices"]
    (warning,) = map(str, warnings)
    shown = ", ".join(f"Job step-{n} (pre-install,pre-upgrade)" for n in range(5))
    assert warning.startswith(
        f"web.yaml:1: Chart web: spec.path: 7 hooks of the chart passed over: {shown} and 2 more"
    )


def test_hooks_in_plain_manifests_are_placed_and_said(tools: StandIns) -> None:
    write({"all.yaml": MAP + "---\n" + HOOK.format("migrate", "post-install")})
    warnings: list[Problem] = []
    assert names(load(".", warnings=warnings)) == ["ConfigMap prices", "Job migrate"]
    (warning,) = map(str, warnings)
    assert warning.startswith(
        "all.yaml:7: Job migrate: metadata.annotations[helm.sh/hook]: 1 hook of a Helm chart placed"
    )


def test_hooks_that_kustomize_prints_are_placed_and_said(tools: StandIns) -> None:
    tools.printing("kustomize", HOOK.format("migrate", "post-install"))
    write({"shop/kustomization.yaml": ""})
    warnings: list[Problem] = []
    assert names(load("shop", warnings=warnings)) == ["Job migrate"]
    (warning,) = map(str, warnings)
    assert warning.startswith(
        "shop/kustomization.yaml: Job migrate: metadata.annotations[helm.sh/hook]: 1 hook of"
    )


def test_objects_go_to_the_namespace_of_the_release_where_they_have_one(tools: StandIns) -> None:
    definition = (
        "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: gadgets.example.com}\n"
        "spec: {group: example.com, scope: Cluster, names: {kind: Gadget, plural: gadgets}, versions: [{name: v1}]}\n"
    )
    texts = [
        MAP,
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: far, namespace: far}\n",
        "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: reader}\n",
        "apiVersion: v1\nkind: List\nitems: [{apiVersion: v1, kind: Secret, metadata: {name: listed}}]\n",
        "apiVersion: example.com/v1\nkind: Gadget\nmetadata: {name: one}\n",
        "apiVersion: example.com/v1\nkind: Widget\nmetadata: {name: two}\n",
    ]
    tools.printing("helm", rendered("shop", [("templates/all.yaml", text) for text in texts]))
    write(
        {
            "charts/shop/Chart.yaml": "name: shop",
            "shop.yaml": SETTINGS,
            "definition.yaml": definition,
        }
    )
    write({"values/common.yaml": "", "values/production.yaml": ""})
    found = {str(manifest.key) for manifest in Catalogue.of(load(".")).manifests}
    assert found == {
        "ConfigMap shopping/prices",
        "ConfigMap far/far",
        "ClusterRole reader",
        "Secret shopping/listed",
        "CustomResourceDefinition gadgets.example.com",
        "Gadget one",
        "Widget shopping/two",
    }


def test_what_is_wrong_in_an_object_is_told_with_its_template(tools: StandIns) -> None:
    wrong = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: prices, labels: {version: 1.2}}\n"
    twice = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, name: b}\n"
    # What stands before the first template is that of no template: helm prints none of it today.
    text = wrong.replace("prices", "early") + rendered(
        "shop", [("templates/a.yaml", wrong), ("crds/b.yaml", twice)]
    )
    tools.printing("helm", text)
    write({"in/shop/Chart.yaml": "name: shop"})
    label = "metadata.labels.version: must be text, not 1.2"
    assert [problem.partition(" (")[0] for problem in refused("in/shop")] == [
        f"in/shop: ConfigMap early: {label}",
        f"in/shop/templates/a.yaml: ConfigMap prices: {label}",
        "in/shop/crds/b.yaml: metadata.name: given twice, first on line 3",
    ]


def test_two_objects_of_one_chart_are_told_apart_by_their_templates(tools: StandIns) -> None:
    tools.printing("helm", rendered("shop", [("templates/a.yaml", MAP), ("templates/b.yaml", MAP)]))
    write({"shop/Chart.yaml": "name: shop"})
    with pytest.raises(FleetError, match=r"b.yaml: .*given twice, first in shop/templates/a.yaml"):
        Catalogue.of(load("shop"))


def test_nothing_at_all_is_a_warning_beside_other_objects(tools: StandIns) -> None:
    tools.add("helm")
    write({"shop/Chart.yaml": "name: shop", "web.yaml": CHART + "\n---\n" + MAP})
    warnings: list[Problem] = []
    assert names(load(".", warnings=warnings)) == ["ConfigMap prices"]
    assert [warning.what for warning in warnings] == ["nothing comes of it"]
    assert refused("shop")[0].startswith("shop: no Kubernetes objects found")


# What must not be run.


def link(to: str, at: str) -> Callable[[], None]:
    def make() -> None:
        Path(at).parent.mkdir(parents=True, exist_ok=True)
        Path(at).symlink_to(to)

    return make


def chart(**spec: object) -> str:
    return json.dumps({**json.loads(_JSON), "spec": {"path": "shop", **spec}})


_JSON = '{"apiVersion": "fleet-components/v1", "kind": "Chart", "metadata": {"name": "web"}}'
ADDRESS = "is an address (nothing is fetched from elsewhere"
ANYWHERE = "may lead anywhere (write a path below ., without ..)"
OUT = "is a link that leads out of ."
PATHS: Mapping[str, tuple[dict[str, object], str]] = {
    "above": ({"path": "../shop"}, f'spec.path: "../shop" {ANYWHERE}'),
    "above in the middle": (
        {"path": "shop/../../shop"},
        f'spec.path: "shop/../../shop" {ANYWHERE}',
    ),
    "absolute": ({"path": "/etc"}, f'spec.path: "/etc" {ANYWHERE}'),
    "absolute on Windows": ({"path": "C:\\shop"}, 'spec.path: "C:\\shop" may lead anywhere'),
    "address": (
        {"path": "https://example.com/shop"},
        f'spec.path: "https://example.com/shop" {ADDRESS}',
    ),
    "registry": (
        {"path": "oci://example.com/shop"},
        f'spec.path: "oci://example.com/shop" {ADDRESS}',
    ),
    "repository": (
        {"path": "git@example.com:shop"},
        f'spec.path: "git@example.com:shop" {ADDRESS}',
    ),
    "missing": ({"path": "shpo"}, 'spec.path: there is no "shpo" (paths are taken from .)'),
    "no path": ({"path": "sh\0op"}, "spec.path: there is no"),
    "file": ({"path": "values.yaml"}, 'spec.path: "values.yaml" is not a folder'),
    "link": ({"path": "linked"}, f'spec.path: "linked" {OUT}'),
    "link on the way": ({"path": "links/out"}, f'spec.path: "links/out" {OUT}'),
    "values above": ({"valueFiles": ["values.yaml", "../values.yaml"]}, "spec.valueFiles[1]: "),
    "values from an address": (
        {"valueFiles": ["https://example.com/v.yaml"]},
        'spec.valueFiles[0]: "https://',
    ),
    "values that are a folder": (
        {"valueFiles": ["links"]},
        'spec.valueFiles[0]: "links" is not a file',
    ),
    "values by a link": (
        {"valueFiles": ["linked.yaml"]},
        f'spec.valueFiles[0]: "linked.yaml" {OUT}',
    ),
    "namespace": (
        {"namespace": "--post-renderer=x"},
        'spec.namespace: "--post-renderer=x" is not a name of a namespace',
    ),
    "unknown field": ({"postRenderer": "x"}, 'spec.postRenderer: there is no field "postRenderer"'),
    "wrong type": ({"valueFiles": "values.yaml"}, "spec.valueFiles: is text, not a list"),
    "no map": ({"values": ["a"]}, "spec.values: is a list, not a map"),
}


@pytest.mark.parametrize(("spec", "what"), PATHS.values(), ids=PATHS)
def test_paths_stay_within_the_source(
    tools: StandIns, tmp_path: Path, spec: dict[str, object], what: str
) -> None:
    """With file and line; and no tool is run."""
    tools.add("helm")
    write({"web.json": chart(**spec), "shop/Chart.yaml": "name: shop", "values.yaml": MAP})
    write(
        {
            "../out/shop/Chart.yaml": "",
            "../values.yaml": "a: 1",
            "../shop/Chart.yaml": "",
            "links/x.txt": "",
        }
    )
    for to, at in (
        ("../out/shop", "linked"),
        ("../../out", "links/out"),
        ("../values.yaml", "linked.yaml"),
    ):
        link(to, at)()
    problems = [
        problem for problem in refused("web.json") if problem.startswith("web.json:1: Chart web: ")
    ]
    assert any(problem.startswith(f"web.json:1: Chart web: {what}") for problem in problems), (
        problems
    )
    assert not tools.calls


def test_links_in_a_chart_stay_within_the_source(tools: StandIns, tmp_path: Path) -> None:
    """Helm would follow them, and a template could print what is there."""
    tools.printing("helm", rendered("shop", [("templates/prices.yaml", MAP)]))
    write(
        {
            "web.yaml": CHART,
            "shop/Chart.yaml": "name: shop",
            "common/x.txt": "",
            "../secret/key": "planted",
        }
    )
    link("../../common/x.txt", "shop/files/common.txt")()
    assert names(load(".")) == ["ConfigMap default/prices"], (
        "within the source they may lead anywhere"
    )
    (problem,) = refused("shop")
    assert (
        problem
        == "shop: shop/files/common.txt is a link that leads out of shop (copy what it leads to)"
    )
    link("../../../secret", "shop/files/all")()
    calls = len(tools.calls)
    (problem,) = refused(".")
    assert problem.startswith(
        "web.yaml:1: Chart web: spec.path: shop/files/all is a link that leads out of ."
    )
    assert len(tools.calls) == calls


@pytest.mark.parametrize(
    "text",
    [
        "resources: [../base]",
        "bases: [../base]",
        "components: [../base]",
        "resources: [../shop, ., ../base/../base]",
    ],
)
def test_bases_are_no_sources_themselves(tools: StandIns, text: str) -> None:
    tools.printing("kustomize", MAP)
    write({"web.yaml": KUSTOMIZATION, "shop/kustomization.yaml": text})
    write({"base/Kustomization": "resources: [../more]", "more/kustomization.yml": ""})
    assert names(load(".")) == ["ConfigMap prices"]
    write({"other/kustomization.yaml": ""})
    (problem,) = refused(".")
    assert problem.startswith("other/kustomization.yaml: is input of kustomize")


BASES: Mapping[str, tuple[str, str]] = {
    "a repository": (
        "resources:\n- x.yaml\n- github.com/example/shop?ref=v1",
        'shop/kustomization.yaml:3: resources[1]: "github.com/example/shop?ref=v1" is the address of a repository to '
        "kustomize (nothing is fetched from elsewhere: ",
    ),
    "an address": (
        "components: ['http://localhost:8080/x']",
        'shop/kustomization.yaml:1: components[0]: "http://localhost:8080/x" is an address (',
    ),
    "no path": ('resources: ["a\\0b"]', "shop/kustomization.yaml:1: resources[0]: there is no"),
    "out of the source": (
        "resources: [../../out]",
        'shop/kustomization.yaml:1: resources[0]: "../../out" leads out of . (copy it into there)',
    ),
    "a link out of it": (
        "bases: [linked]",
        'shop/kustomization.yaml:1: bases[0]: "linked" leads out of .',
    ),
    "plugins out of it": (
        "generators: [linked]",
        'shop/kustomization.yaml:1: generators[0]: "linked" leads out of .',
    ),
    "in a base": (
        "resources: [inner]",
        'shop/inner/kustomization.yaml:1: resources[0]: there is no "gone.yaml"',
    ),
}


@pytest.mark.parametrize(("text", "what"), BASES.values(), ids=BASES)
def test_bases_stay_within_the_source(tools: StandIns, text: str, what: str) -> None:
    tools.printing("kustomize", MAP)
    write({"web.yaml": KUSTOMIZATION, "shop/kustomization.yaml": text, "shop/x.yaml": ""})
    write(
        {"../out/kustomization.yaml": "", "shop/inner/kustomization.yaml": "resources: [gone.yaml]"}
    )
    link("../../out", "shop/linked")()
    (problem,) = refused(".")
    assert problem.startswith(what)
    assert not tools.calls


@pytest.mark.parametrize(
    "text",
    [
        "transformers:\n- |-\n  apiVersion: builtin\n  kind: " + "x" * 5000,
        "resources: {a: b}\nbases: [1, null, {a: b}]\ncomponents: ../base",
        "- a",
    ],
)
def test_what_is_wrong_with_the_form_of_a_kustomization_says_kustomize(
    tools: StandIns, text: str
) -> None:
    tools.printing("kustomize", MAP)
    write({"web.yaml": KUSTOMIZATION, "shop/kustomization.yaml": text})
    assert names(load(".")) == ["ConfigMap prices"]
    assert tools.calls == ["kustomize", "build", "./shop"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("resources: [", "not YAML"),
        ("resources: []\nresources: [../../outside]", "given twice"),
        ("Resources: [../../outside]", "Resources: is not written so"),
        ("RESOURCES: [../../outside]", "RESOURCES: is not written so"),
        ("Bases: [../../outside]", "Bases: is not written so"),
    ],
)
def test_a_kustomization_that_kustomize_reads_in_another_way_is_not_built(
    tools: StandIns, text: str, said: str
) -> None:
    tools.printing("kustomize", MAP)
    write({"web.yaml": KUSTOMIZATION, "shop/kustomization.yaml": text})
    with pytest.raises(FleetError, match=said):
        load(".")
    assert not tools.calls


def test_a_kustomization_in_another_encoding_is_not_built(tools: StandIns) -> None:
    tools.printing("kustomize", MAP)
    write({"web.yaml": KUSTOMIZATION, "shop/kustomization.yaml": ""})
    Path("shop/kustomization.yaml").write_bytes("resources: [../../outside]".encode("utf-16"))
    with pytest.raises(FleetError, match="not UTF-8"):
        load(".")
    assert not tools.calls


def test_a_kustomization_that_is_a_source_itself_has_its_bases_where_it_likes(
    tools: StandIns,
) -> None:
    tools.printing("kustomize", MAP)
    write(
        {
            "overlays/prod/kustomization.yaml": "resources: [../../base]",
            "base/kustomization.yaml": "",
        }
    )
    assert names(load("overlays/prod")) == ["ConfigMap prices"]


def test_what_is_merely_found_is_not_run(tools: StandIns) -> None:
    for name in ("helm", "kustomize", "kubectl"):
        tools.add(name)
    write(
        {
            "a/shop/Chart.yaml": "name: shop",
            "b/kustomization.yaml": "",
            "c.yaml": MAP,
            "a/shop/templates/x.yaml": "",
        }
    )
    problems = refused(".")
    assert [problem.partition(" (")[0] for problem in problems] == [
        "a/shop/Chart.yaml: is a Helm chart, not a manifest",
        "b/kustomization.yaml: is input of kustomize, not a manifest",
    ]
    assert "give its folder as a source of its own: a/shop; or declare it" in problems[0]
    assert "kind: Chart, metadata: {name: shop}, spec: {path: a/shop}}" in problems[0]
    assert "kind: Kustomization, metadata: {name: b}, spec: {path: b}}" in problems[1]
    assert not tools.calls


def test_what_the_hint_says_works(tools: StandIns) -> None:
    tools.printing("helm", rendered("shop", [("templates/prices.yaml", MAP)]))
    write({"a/shop/Chart.yaml": "name: shop"})
    (problem,) = refused(".")
    write({"chart.yaml": problem[problem.index("{apiVersion") : -1]})
    assert names(load(".")) == ["ConfigMap default/prices"]


@pytest.mark.parametrize("made", ["by a tool", "before a pipe"])
def test_what_was_made_names_no_tools_to_run(tools: StandIns, made: str) -> None:
    tools.printing("kustomize", CHART)
    tools.add("helm")
    write({"shop/Chart.yaml": "name: shop", "in/kustomization.yaml": ""})
    (problem,) = refused("in") if made == "by a tool" else refused(Text("standard input", CHART))
    where = "in/kustomization.yaml" if made == "by a tool" else "standard input:1"
    assert problem.startswith(
        f"{where}: Chart web: kind: is carried out only where a file of a source says it ("
    )
    assert "helm" not in tools.calls


def test_names_are_no_options(tools: StandIns) -> None:
    """Neither a folder nor a release can be taken for one."""
    tools.printing("helm", rendered("shop", [("templates/prices.yaml", MAP)]))
    tools.printing("kustomize", MAP.replace("prices", "more"))
    write({"--post-renderer=x/Chart.yaml": "name: --debug", "--enable-exec/kustomization.yaml": ""})
    assert len(load("--post-renderer=x", "--enable-exec")) == 2
    assert tools.calls[-3:] == ["kustomize", "build", "./--enable-exec"]
    dashes = tools.calls.index("--")
    assert tools.calls[dashes + 1] == "--debug"
    assert "./--post-renderer=x" in tools.calls


def test_a_file_of_values_holds_no_objects(tools: StandIns) -> None:
    """They would be gone without a word."""
    tools.add("helm")
    write(
        {
            "web.json": chart(valueFiles=["prices.yaml"]),
            "shop/Chart.yaml": "name: shop",
            "prices.yaml": MAP,
        }
    )
    (problem,) = refused(".")
    assert problem.startswith(
        "prices.yaml:1: ConfigMap prices: stands in a file that a chart has as its values"
    )
    write({"web.json": chart(valueFiles=["web.json"])})
    calls = len(tools.calls)
    (problem,) = refused(".")
    assert problem.startswith(
        "web.json:1: Chart web: stands in a file that a chart has as its values"
    )
    assert len(tools.calls) == calls


def test_all_problems_come_at_once(tools: StandIns) -> None:
    tools.add("helm", "echo broken >&2; exit 1")
    write(
        {
            "web.yaml": CHART,
            "shop/Chart.yaml": "name: shop",
            "b/Chart.yaml": "name: b",
            "c.yaml": "kind: X\n",
        }
    )
    problems = refused(".")
    assert [problem.partition(":")[0] for problem in problems] == [
        "b/Chart.yaml",
        "c.yaml",
        "c.yaml",
        "web.yaml",
    ]
    # One that cannot be read may be about the chart that nobody seems to name.
    write({"d.yaml": KUSTOMIZATION.replace("shop", "nowhere")})
    problems = refused(".")
    assert [problem.partition(":")[0] for problem in problems] == [
        "c.yaml",
        "c.yaml",
        "d.yaml",
        "web.yaml",
    ]


@pytest.mark.parametrize("sources", [(".", "shop"), ("shop", ".")])
def test_what_one_source_finds_another_one_may_name(
    tools: StandIns, sources: tuple[str, ...]
) -> None:
    tools.printing("helm", rendered("shop", [("templates/prices.yaml", MAP)]))
    write({"shop/Chart.yaml": "name: shop", "c.yaml": MAP.replace("prices", "more")})
    assert sorted(names(load(*sources))) == ["ConfigMap default/prices", "ConfigMap more"]
    write({"web.yaml": CHART})
    warnings: list[Problem] = []
    load(*sources, warnings=warnings)
    (warning,) = warnings
    assert str(warning).startswith(
        "web.yaml:1: Chart web: spec.path: shop is a source as well, so it is built twice ("
    )
