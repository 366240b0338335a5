"""``fleet plan`` on Pulumi projects: what ``pulumi preview`` would show, without the CLI and without clusters."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from fleet_components import Fleet
from fleet_components.testing import run_program
from tests.cli.fleets import PROJECT, SECRET, clusters, edit, export, plan, run, write

CHAIN = """\
import pulumi

class Thing(pulumi.CustomResource):
    id_seen: pulumi.Output[str]
    def __init__(self, name, **inputs):
        super().__init__("test:index:Thing", name, inputs)

first = Thing("first", size=3)
Thing("second", of=first.id, key=pulumi.Output.secret("hunter2-planted"))
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(write(tmp_path / "project", PROJECT))
    return tmp_path / "project"


Save = Callable[..., Path]


@pytest.fixture
def save(project: Path, tmp_path: Path) -> Save:
    """Update the stack, in process, and export its state."""

    def saved(*, encrypted: bool = False) -> Path:
        settings = yaml.safe_load((project / "stacks/Pulumi.dev.yaml").read_text())["config"]
        config = {**settings, "fleet:source": str(project / "stacks/fleet")}
        done = run_program(
            lambda: Fleet.from_config("dev"),
            project="web",
            stack="dev",
            config=config,
            preview=False,
        )
        assert done.error is None
        file = tmp_path / "export.json"
        file.write_text(json.dumps(export(done, encrypted=encrypted)))
        return file

    return saved


def resource(document: dict[str, Any], name: str, kind: str = "") -> dict[str, Any]:
    found: list[dict[str, Any]] = [
        item
        for item in document["resources"]
        if item["name"] == name and item["type"].endswith(kind)
    ]
    assert len(found) == 1
    return found[0]


def changed(document: dict[str, Any]) -> dict[str, str]:
    return {
        f"{item['type'].rpartition(':')[2]} {item['name']}": item["change"]
        for item in document["resources"]
        if item["change"] != "same"
    }


def test_a_new_stack_creates_everything(project: Path) -> None:
    document = plan(project)
    assert document["fleet"] == {"project": "web", "stack": "dev", "directory": str(project)}
    assert clusters(document) == {"amsterdam": "joins", "dublin": "joins"}
    assert document["totals"]["resources"] == {
        "create": 24,
        "update": 0,
        "replace": 0,
        "delete": 0,
        "same": 0,
    }
    deployment = resource(document, "dev/shop@dublin/shop/storefront", "Deployment")
    stem = "urn:pulumi:dev::web::fleet:index:Fleet"
    target = f"{stem}$fleet:index:Placement$fleet:index:Target"
    assert (
        deployment["urn"]
        == f"{target}$kubernetes:apps/v1:Deployment::dev/shop@dublin/shop/storefront"
    )
    assert deployment["parent"] == f"{target}::dev/shop@dublin"
    assert deployment["provider"] == f"{stem}$pulumi:providers:kubernetes::dev/dublin"
    assert any(
        "ConfigMap::dev/shop@dublin/shop/storefront" in urn for urn in deployment["dependencies"]
    )
    assert deployment["inputs"]["spec"]["replicas"] == 3
    assert list(deployment) == [
        *("urn", "type", "name", "change", "differences", "uncompared", "parent"),
        *("provider", "dependencies", "options", "inputs"),
    ]


@pytest.mark.parametrize("encrypted", [False, True])
def test_an_unchanged_stack_shows_nothing(project: Path, save: Save, encrypted: bool) -> None:
    document = plan(project, "--state", save(encrypted=encrypted))
    assert changed(document) == {}
    assert clusters(document) == {"amsterdam": "stays", "dublin": "stays"}
    uncompared = [field for item in document["resources"] for field in item["uncompared"]]
    assert set(uncompared) == ({"contents", "data"} if encrypted else set())


def test_a_change_shows_just_what_it_touches(project: Path, save: Save) -> None:
    state = save()
    edit(project / "stacks/fleet/shop.yaml", "nginx:1.27.5", "nginx:1.28.0")
    document = plan(project, "--state", state)
    assert changed(document) == {
        "Placement dev/shop": "update",
        **{f"Deployment dev/shop@{c}/shop/storefront": "update" for c in ("amsterdam", "dublin")},
        **{f"Binding dev/shop@{c}": "update" for c in ("amsterdam", "dublin")},
    }
    assert resource(document, "dev/shop@dublin/shop/storefront", "Deployment")["differences"] == [
        {
            "field": "spec.template.spec.containers[0].image",
            "old": "nginx:1.27.5",
            "new": "nginx:1.28.0",
        }
    ]
    text = run("plan", ".", "--state", state, "--diff").stdout
    assert "~ Deployment shop/storefront\n" in text
    assert "spec.template.spec.containers[0].image: nginx:1.27.5 -> nginx:1.28.0" in text
    assert "contents" not in text  # hidden from diffs, as in a preview


def test_a_member_that_leaves_takes_its_resources_along(project: Path, save: Save) -> None:
    state = save()
    edit(project / "stacks/fleet/members.yaml", "name: amsterdam\n", "name: zurich\n")
    document = plan(project, "--state", state)
    assert clusters(document) == {"zurich": "joins", "amsterdam": "leaves", "dublin": "stays"}
    changes = changed(document)
    assert changes["Deployment dev/shop@amsterdam/shop/storefront"] == "delete"
    assert changes["Deployment dev/shop@zurich/shop/storefront"] == "create"
    assert changes["kubernetes dev/amsterdam"] == "delete"
    assert changes["Roster dev"] == "update"
    assert "Deployment dev/shop@dublin/shop/storefront" not in changes
    assert resource(document, "dev/shop@amsterdam/shop", "Namespace")["options"] == {
        "retainOnDelete": True
    }
    assert "- Namespace shop  forgotten, not deleted" in run("plan", ".", "--state", state).stdout


@pytest.mark.samples(2)
@pytest.mark.parametrize("form", ["table", "json", "yaml", "markdown"])
@pytest.mark.parametrize("encrypted", [False, True])
def test_no_secret_is_shown(project: Path, save: Save, form: str, encrypted: bool) -> None:
    state = save(encrypted=encrypted)
    edit(project / "stacks/fleet/shop.yaml", SECRET, "another-planted")
    edit(project / "stacks/fleet/shop.yaml", "currency: EUR", "currency: CHF")
    result = run("plan", ".", "--state", state, "-o", form, "--diff")
    assert result.exit_code == 0
    assert "planted" not in result.stdout
    assert "unreadable" not in result.stdout


def test_secrets_are_compared_where_the_state_shows_them(project: Path, save: Save) -> None:
    kubeconfig = json.dumps({"clusters": [1], "contexts": [1], "users": [{"token": SECRET}]})
    kubeconfigs = json.dumps(dict.fromkeys(("amsterdam", "dublin"), kubeconfig))
    edit(
        project / "stacks/Pulumi.dev.yaml",
        "fleet:render: ../rendered",
        f"fleet:kubeconfigs: {kubeconfigs}",
    )
    state = save()
    edit(project / "stacks/fleet/shop.yaml", SECRET, "another-planted")
    differences = resource(plan(project, "--state", state), "dev/shop@dublin/shop/payment")[
        "differences"
    ]
    assert differences == [{"field": "data", "old": "[secret]", "new": "[secret]"}]


def test_what_a_held_member_keeps_need_not_be_in_the_state(project: Path, save: Save) -> None:
    edit(project / "stacks/fleet/placement.yaml", "maxUnavailable: 1", "maxUnavailable: 0")
    encrypted = save(encrypted=True)
    edit(project / "stacks/fleet/shop.yaml", "currency: EUR", "currency: CHF")
    document = plan(project, "--state", encrypted)
    assert clusters(document) == {"amsterdam": "held", "dublin": "held"}
    assert {item["change"] for item in document["resources"] if "shop@" in item["name"]} == {"same"}
    (warning,) = document["warnings"]
    assert "revision 0 stays on some members" in warning
    assert "pulumi stack export --show-secrets" in warning
    edit(project / "stacks/fleet/shop.yaml", "currency: CHF", "currency: EUR")
    state = save()
    edit(project / "stacks/fleet/shop.yaml", "currency: EUR", "currency: CHF")
    assert clusters(plan(project, "--state", state)) == {"amsterdam": "held", "dublin": "held"}


def test_a_great_loss_is_refused_with_its_token(project: Path, save: Save) -> None:
    state = save()
    edit(
        project / "stacks/fleet/placement.yaml",
        "maxUnavailable: 1, maxSurge: 1",
        "maxUnavailable: 100%, maxSurge: 100%",
    )
    for old, new in (("amsterdam", "zurich"), ("dublin", "oslo")):
        edit(project / "stacks/fleet/members.yaml", f"name: {old}\n", f"name: {new}\n")
    refused = run("plan", ".", "--state", state)
    assert refused.exit_code == 3
    lost = (
        "ClusterResourcePlacement/shop: would lose 6 objects on 2 members (amsterdam, dublin), 6 of"
        " the 6"
    )
    assert lost in refused.stderr
    token = refused.stderr.partition("fleet:confirm=")[2][:8]
    edit(
        project / "stacks/Pulumi.dev.yaml",
        "../rendered\n",
        f"../rendered\n  fleet:confirm: {token}\n",
    )
    assert clusters(plan(project, "--state", state))["zurich"] == "joins"


def test_a_render_tells_decisions_and_not_resources(project: Path, tmp_path: Path) -> None:
    assert run("render", ".", "--out", tmp_path / "out").exit_code == 0
    state = tmp_path / "out" / "dev" / "state.json"
    document = plan(project, "--state", state)
    assert clusters(document) == {"amsterdam": "stays", "dublin": "stays"}
    assert {item["change"] for item in document["resources"]} == {None}
    assert document["totals"]["resources"] is None
    assert (
        "known with the output of pulumi stack export" in run("plan", ".", "--state", state).stdout
    )


def test_encrypted_configuration_stays_unread(project: Path) -> None:
    secure = "{amsterdam: {secure: v1:ciphertext}, dublin: {secure: v1:ciphertext}}"
    edit(
        project / "stacks/Pulumi.dev.yaml",
        "fleet:render: ../rendered",
        f"fleet:kubeconfigs: {secure}",
    )
    document = plan(project)
    provider = resource(document, "dev/dublin", "kubernetes")
    assert provider["inputs"]["kubeconfig"] == "[secret]"
    assert "ciphertext" not in json.dumps(document)


def test_the_program_runs_where_pulumi_would_run_it(project: Path) -> None:
    (project / "stacks/helper.py").write_text(
        "from pathlib import Path\n\nWORD = Path('word.txt').read_text()\n"
    )
    (project / "stacks/word.txt").write_text("found")
    settings = (
        "config:\n  size: {type: integer, default: 3}\n  plain: yes\n  other:key: {value: [1, 2]}\n"
    )
    edit(
        project / "Pulumi.yaml",
        "runtime: python\n",
        "runtime: {name: python, options: {virtualenv: .venv}}\n" + settings,
    )
    (project / "stacks/__main__.py").write_text(
        "import pulumi, helper\nconfig = pulumi.Config()\nprint('to stdout')\nseen = [helper.WORD,"
        " config.require_int('size'), config.require_bool('plain'),"
        " pulumi.Config('other').require_object('key'), pulumi.get_organization(),"
        " pulumi.get_project(), pulumi.get_stack(),"
        " pulumi.runtime.is_dry_run()]\npulumi.log.warn(repr(seen))\n"
    )
    result = run("plan", ".", "--stack", "acme/dev", "-o", "json")
    (message,) = json.loads(result.stdout)["messages"]
    expected = ["found", 3, True, [1, 2], "acme", "web", "dev", True]
    assert message == {"level": "warning", "text": repr(expected)}
    assert "to stdout" in result.stderr
    assert Path.cwd() == project


OPTIONED = """\
import pulumi
from fleet_components import Cluster, Fleet, FleetArgs, Taint

def labelled(args):
    if not args.type_.startswith("kubernetes:apps/v1"):
        return None
    metadata = {**args.props["metadata"], "labels": {"team": "shop"}}
    return pulumi.ResourceTransformResult({**args.props, "metadata": metadata}, args.opts)

app = pulumi.ComponentResource("my:index:App", "app")
"""


def test_resource_options_show_as_in_a_preview(project: Path, save: Save) -> None:
    """A fleet with another name, in a component, with a transform: the objects stay, and get what they are given."""
    state = str(save())
    options = "parent=app, aliases=[pulumi.Alias(name='dev')], transforms=[labelled]"
    program = f"{OPTIONED}Fleet.from_config('prod', pulumi.ResourceOptions({options}))\n"
    (project / "stacks/__main__.py").write_text(program)
    document = plan(project, "--state", state)
    objects = {
        what: change
        for what, change in changed(document).items()
        if what.startswith(("Dep", "Stat", "Dae"))
    }
    assert objects == {
        "Deployment prod/shop@amsterdam/shop/storefront": "update",
        "Deployment prod/shop@dublin/shop/storefront": "update",
    }
    (shown,) = resource(document, "prod/shop@dublin/shop/storefront", "Deployment")["differences"]
    assert shown == {"field": "metadata.labels", "old": None, "new": {"team": "shop"}}
    assert set(changed(document).values()) == {"update", "create"}
    assert [what for what, change in changed(document).items() if change == "create"] == ["App app"]


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("Cluster('a', labels=['b'])", "Cluster.labels: is a list, not a dict"),
        (
            "FleetArgs('fleet', limit='half')",
            "FleetArgs.limit: is a str, not a number hint: give a share from 0 to 1",
        ),
        ("FleetArgs(5)", "FleetArgs.source: is an int, not text"),
        ("Fleet('a', 'fleet')", "Fleet.args: is a str, not a FleetArgs hint: give FleetArgs(...)"),
        (
            "Fleet.from_config('a', pulumi.ResourceOptions(ignore_changes=['x']))",
            (
                "Fleet.opts.ignore_changes: is not for a fleet hint: a transform sets it on single"
                " objects"
            ),
        ),
        (
            "FleetArgs('fleet', confirm=pulumi.Output.from_input([]))",
            (
                "FleetArgs.confirm: is an Output hint: the plan is made before any resource, so"
                " give a plain value"
            ),
        ),
    ],
)
def test_a_wrong_argument_is_named(project: Path, statement: str, said: str) -> None:
    (project / "stacks/__main__.py").write_text(f"{OPTIONED}{statement}\n")
    result = run("plan", ".")
    assert result.exit_code == 1
    assert said in " ".join(result.output.split())
    assert "Traceback" not in result.output


def test_warnings_of_a_selection_are_told(project: Path) -> None:
    edit(
        project / "stacks/fleet/shop.yaml",
        "metadata: {name: shop}",
        "metadata: {name: shop, finalizers: [x.io/y]}",
    )
    document = plan(project)
    (warning,) = document["subjects"][0]["warnings"]
    assert "finalizers go along" in warning
    assert document["messages"] == []
    text = run("plan", ".").stdout
    assert "warning: " in text
    assert text.count("finalizers go along") == 1


def test_ids_are_those_of_the_state_or_not_known_yet(project: Path, tmp_path: Path) -> None:
    (project / "stacks/__main__.py").write_text(CHAIN)
    new = resource(plan(project), "second")
    assert new["inputs"] == {"key": "[secret]", "of": "[unknown]"}
    stem = {
        "type": "test:index:Thing",
        "custom": True,
        "parent": "urn:pulumi:dev::web::pulumi:pulumi:Stack::web-dev",
    }
    stored = [
        {"urn": "urn:pulumi:dev::web::pulumi:pulumi:Stack::web-dev", "type": "pulumi:pulumi:Stack"},
        {
            **stem,
            "urn": "urn:pulumi:dev::web::test:index:Thing::first",
            "id": "real",
            "inputs": {"size": 3},
        },
        {
            **stem,
            "urn": "urn:pulumi:dev::web::test:index:Thing::second",
            "id": "other",
            "inputs": {"of": "real"},
        },
        {
            **stem,
            "urn": "urn:pulumi:dev::web::test:index:Thing::second",
            "id": "old",
            "inputs": {},
            "delete": True,
        },
        {**stem, "urn": "urn:pulumi:dev::web::test:index:Thing::gone", "delete": True},
    ]
    file = tmp_path / "export.json"
    file.write_text(json.dumps({"deployment": {"resources": stored}}))
    document = plan(project, "--state", file)
    assert changed(document) == {"Thing second": "update"}
    assert resource(document, "second")["differences"] == [
        {"field": "key", "old": None, "new": "[secret]"}
    ]


def test_an_environment_is_said_to_be_unread(project: Path) -> None:
    edit(project / "stacks/Pulumi.dev.yaml", "config:", "environment: [shared]\nconfig:")
    (message,) = plan(project)["messages"]
    assert "environment is not read" in message["text"]


def test_the_time_on_the_command_line_wins(project: Path) -> None:
    edit(
        project / "stacks/Pulumi.dev.yaml",
        "../rendered\n",
        "../rendered\n  fleet:asOf: 2026-01-01T00:00:00Z\n",
    )
    assert plan(project)["asOf"] == "2026-01-01T00:00:00+00:00"
    assert plan(project, "--as-of", "2026-02-01T00:00:00Z")["asOf"] == "2026-02-01T00:00:00+00:00"


def test_a_project_is_explained_like_its_directory(project: Path) -> None:
    of_project = run("explain", ".", "shop", "-o", "json")
    of_directory = run("explain", "stacks/fleet", "shop", "-o", "json")
    members = [
        json.loads(result.stdout)["subjects"][0]["members"] for result in (of_project, of_directory)
    ]
    assert members[0] == members[1]


KUBECONFIGS = "fleet:kubeconfigs: {amsterdam: no-file, dublin: '{a: b}', iowa: unused}"


@pytest.mark.parametrize("command", ["plan", "render"])
def test_a_plan_needs_no_kubeconfig(project: Path, tmp_path: Path, command: str) -> None:
    edit(project / "stacks/Pulumi.dev.yaml", "fleet:render: ../rendered", KUBECONFIGS)
    result = run(command, ".", *(("--out", tmp_path / "out") if command == "render" else ()))
    assert result.exit_code == 0
    told = result.stdout + result.stderr
    assert (
        "member amsterdam: the kubeconfig is neither a text nor the path of a file that is there:"
        " pulumi up" in told
    )
    assert (
        "stacks/Pulumi.dev.yaml: member dublin: is not a kubeconfig: it has no clusters and no"
        " contexts: pulumi up" in told
    )
    assert told.count("warning: ") == 2  # nothing is placed on iowa
    assert "Traceback" not in told


def test_members_without_any_kubeconfig_are_warnings_of_the_document(project: Path) -> None:
    edit(project / "stacks/Pulumi.dev.yaml", "fleet:render: ../rendered", "fleet:limit: 1")
    document = plan(project)
    assert [
        item.partition(": pulumi up")[0].partition("member ")[2] for item in document["warnings"]
    ] == [
        "amsterdam: has no kubeconfig",
        "dublin: has no kubeconfig",
    ]
    assert document["messages"] == []


def test_a_kubeconfig_that_is_not_here_changes_nothing(project: Path, save: Save) -> None:
    kubeconfig = json.dumps({"clusters": [1], "contexts": [1]})
    given = f"fleet:kubeconfigs: {json.dumps(dict.fromkeys(('amsterdam', 'dublin'), kubeconfig))}"
    edit(project / "stacks/Pulumi.dev.yaml", "fleet:render: ../rendered", given)
    state = save()
    edit(project / "stacks/Pulumi.dev.yaml", given, "fleet:kubeconfigs: {amsterdam: no-file}")
    document = plan(project, "--state", state)
    assert changed(document) == {}
    assert {field for item in document["resources"] for field in item["uncompared"]} == {
        "kubeconfig"
    }


@pytest.mark.parametrize("lost", ["", "  fleet:lost: iowa\n", '  fleet:lost: ["iowa"]\n'])
def test_members_are_lost_and_return_on_the_command_line(project: Path, lost: str) -> None:
    edit(project / "stacks/Pulumi.dev.yaml", "../rendered\n", f"../rendered\n{lost}")
    assert clusters(plan(project, "--lost", "dublin"))["amsterdam"] == "joins"
    assert "dublin" not in clusters(plan(project, "--lost", "dublin"))
    assert plan(project)["members"] == (3 if lost else 4)
    assert plan(project, "--returned", "iowa")["members"] == 4


def test_a_token_that_allows_nothing_is_said(project: Path) -> None:
    for where in (".", "stacks/fleet"):
        (warning,) = plan(where, "--confirm", "12345678")["warnings"]
        assert warning.startswith("--confirm 12345678 allows nothing")


def test_files_are_named_as_seen_from_here(project: Path) -> None:
    edit(
        project / "stacks/fleet/shop.yaml",
        "metadata: {name: shop}",
        "metadata: {name: shop, finalizers: [x.io/y]}",
    )
    (subject,) = plan(".")["subjects"]
    assert subject["source"] == "stacks/fleet/placement.yaml:1"
    assert subject["warnings"][0].startswith("stacks/fleet/shop.yaml:3: ")
    assert plan("stacks/fleet")["subjects"][0]["source"] == subject["source"]


def test_what_a_program_does_not_hear_is_said(project: Path) -> None:
    (project / "stacks/__main__.py").write_text(
        "from fleet_components import Fleet, FleetArgs, read_source\n"
        "Fleet('dev', FleetArgs(read_source('fleet'), render_to='out'))\n"
    )
    said = ("--lost", "iowa", "--lost", "nobody", "--confirm", "12345678", "--returned", "dublin")
    document = plan(".", *said)
    assert [item.partition(" (")[0] for item in document["warnings"]] == [
        "stacks/Pulumi.dev.yaml:3: config.fleet:render: is ignored",
        'lost: there is no member "nobody"',
        "--confirm 12345678 allows nothing",
        "--returned dublin changes nothing",
    ]
    assert {
        item["name"] for subject in document["subjects"] for item in subject["clusters"]
    }.isdisjoint({"iowa"})


OWN = """import pulumi
import pulumi_kubernetes as k8s

provider = k8s.Provider("own", kubeconfig="", **{settings})
k8s.core.v1.{kind}("released", {name}data={{"revision": "{data}"}}, opts=pulumi.ResourceOptions(provider=provider))
"""


@pytest.mark.samples(4)
@pytest.mark.parametrize("kind", ["ConfigMap", "Secret"])
@pytest.mark.parametrize(
    "name", ["", "metadata={'labels': {'a': 'b'}}, ", "metadata={'name': 'mine'}, "]
)
@pytest.mark.parametrize("mutable", [False, True])
def test_objects_of_the_programs_own_change_as_on_the_engine(
    project: Path, tmp_path: Path, kind: str, name: str, mutable: bool
) -> None:
    """A made-up name stays, and a provider that changes no ConfigMap and no Secret makes a new one."""
    settings = dict.fromkeys(("enable_config_map_mutable", "enable_secret_mutable"), mutable)
    program = project / "stacks/__main__.py"
    program.write_text(OWN.format(settings=settings, kind=kind, name=name, data="1"))
    new = resource(plan(project), "released", kind)
    metadata = new["inputs"].get("metadata") or {}
    if "name" not in metadata:
        made_up = {"name": "released-4823180b", "annotations": {"pulumi.com/autonamed": "true"}}
        metadata = {**metadata, **made_up}
    stored = [
        {"urn": "urn:pulumi:dev::web::pulumi:pulumi:Stack::web-dev", "type": "pulumi:pulumi:Stack"},
        *(
            {
                "urn": item["urn"],
                "type": item["type"],
                "custom": True,
                "id": "x",
                "inputs": item["inputs"],
            }
            for item in (
                resource(plan(project), "own"),
                {**new, "inputs": {**new["inputs"], "metadata": metadata}},
            )
        ),
    ]
    if kind == "Secret":
        stored[-1]["inputs"]["data"] = {
            "4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270"
        } | {"value": {"revision": "1"}}
    file = tmp_path / "export.json"
    file.write_text(json.dumps({"deployment": {"resources": stored}}))
    assert changed(plan(project, "--state", file)) == {}
    program.write_text(OWN.format(settings=settings, kind=kind, name=name, data="2"))
    assert resource(plan(project, "--state", file), "released", kind)["change"] == (
        "update" if mutable else "replace"
    )


@pytest.mark.parametrize("key", ["lost", "confirm", "approvals", "passOver"])
def test_a_wrong_list_is_told_with_its_line(project: Path, key: str) -> None:
    """Also where the command line adds to it."""
    edit(
        project / "stacks/Pulumi.dev.yaml",
        "../rendered\n",
        f"../rendered\n  fleet:{key}: {{a: b}}\n",
    )
    for options in (
        [],
        ["--lost", "iowa", "--confirm", "0badcafe", "--approve", "go", "--pass-over", "X"],
    ):
        result = run("plan", ".", *options)
        assert result.exit_code == 1
        line = next(line for line in result.stderr.splitlines() if f"fleet:{key}" in line)
        assert line.endswith(f"config.fleet:{key}: is not a list of names")


UNMARKED = """\
import pulumi
import pulumi_kubernetes as k8s

provider = k8s.Provider("own", kubeconfig="hunter2-planted {data}")
options = pulumi.ResourceOptions(provider=provider)
inputs = {{"metadata": {{"name": "s"}}, "stringData": {{"pin": "hunter2-planted {data}"}}}}
pulumi.CustomResource("kubernetes:core/v1:Secret", "s", {{"apiVersion": "v1", "kind": "Secret", **inputs}}, options)
"""


@pytest.mark.parametrize("form", ["table", "json", "yaml", "markdown"])
def test_what_a_program_has_not_marked_is_hidden_too(
    project: Path, tmp_path: Path, form: str
) -> None:
    """In a Secret, and in the kubeconfig of a provider: of what is made, changed and deleted."""
    program, state = project / "stacks/__main__.py", tmp_path / "export.json"
    program.write_text(UNMARKED.format(data="1"))
    stored = [
        {"urn": "urn:pulumi:dev::web::pulumi:pulumi:Stack::web-dev", "type": "pulumi:pulumi:Stack"},
        *(
            {"urn": item["urn"], "type": item["type"], "custom": True, "id": "x", "inputs": inputs}
            for item, inputs in (
                (resource(plan(project), "own"), {"kubeconfig": "hunter2-planted 0"}),
                (
                    resource(plan(project), "s"),
                    {"kind": "Secret", "stringData": {"pin": "hunter2-planted 0"}},
                ),
            )
        ),
    ]
    state.write_text(json.dumps({"deployment": {"resources": stored}}))
    options = ["--diff"] if form in ("table", "markdown") else []
    for text in (UNMARKED.format(data="1"), "import pulumi\n"):
        program.write_text(text)
        done = run("plan", project, "--state", state, "-o", form, *options)
        assert done.exit_code == 0, done.output
        assert SECRET not in done.output
