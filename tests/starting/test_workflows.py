"""The workflows of ``fleet init --ci``: valid for their CI systems, and what their shell does on a pull request."""

from __future__ import annotations

import base64
import re
import shutil
import subprocess
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner

from fleet_components.cli.command import fleet
from fleet_components.starting.fleet import template
from fleet_components.starting.workflow import OBSERVING, WORKFLOWS
from tests.cli.test_comment import HOSTILE, MARKER
from tests.forges.fake import TOKEN, Forge, forge
from tests.forges.runs import RUNS
from tests.starting.ci import HEADER, INSTALL, JOBS, Job, observing

check_jsonschema = import_module("check_jsonschema").main  # untyped
SCHEMAS = {
    "github": ["--builtin-schema", "vendor.github-workflows"],
    "gitlab": ["--builtin-schema", "vendor.gitlab-ci", "--data-transform", "gitlab-ci"],
    "azure-devops": [
        "--builtin-schema",
        "vendor.azure-pipelines",
        "--data-transform",
        "azure-pipelines",
    ],
}
# A pattern of this schema, for branches of schedules, is none of ECMAScript.
SCHEMAS["azure-devops"] += ["--regex-variant", "python"]


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> Iterator[Forge]:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with forge() as found:
        yield found


def files(ci: str, job: Job) -> list[Path]:
    found = [
        path
        for name in (*WORKFLOWS[ci], *OBSERVING[ci])
        if (path := job.repository / name).exists()
    ]
    return [*found, job.repository / ".gitlab-ci.yml"] if ci == "gitlab" else found


@pytest.mark.parametrize("ci", JOBS)
@pytest.mark.parametrize(
    "more", [[], ["--install", "pip install -c 'a b.txt' \"x[cli]\" # {}: \\ % $A"]]
)
def test_it_fits_the_schema_of_its_system(ci: str, more: list[str], tmp_path: Path) -> None:
    """The schemas come with the tool: nothing is fetched."""
    job = Job.written(ci, tmp_path, *more)
    job.observed(ci)
    done = CliRunner().invoke(check_jsonschema, [*SCHEMAS[ci], *map(str, files(ci, job))])
    assert done.exit_code == 0, done.output
    broken = tmp_path / "broken.yml"
    broken.write_text(
        re.sub(r"(?m)^( *)(runs-on|script|steps):", r"\1runs_on:", files(ci, job)[0].read_text())
    )
    assert CliRunner().invoke(check_jsonschema, [*SCHEMAS[ci], str(broken)]).exit_code == 1


def test_actionlint_finds_nothing(tmp_path: Path) -> None:
    if not (actionlint := shutil.which("actionlint")):
        pytest.skip("actionlint is not on PATH")
    job = Job.written("github", tmp_path)
    job.observed("github")
    command = [actionlint, "-no-color", *map(str, files("github", job))]
    done = subprocess.run(command, cwd=job.repository, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "")


@pytest.mark.long
@pytest.mark.parametrize("ci", JOBS)
@pytest.mark.parametrize("status", [0, 3])
def test_the_comment_is_posted_and_then_updated_and_a_refusal_fails_after_it(
    ci: str, status: int, served: Forge, tmp_path: Path
) -> None:
    job = Job.written(ci, tmp_path)
    environment = RUNS[ci](served, tmp_path, False)
    job.reviews("### One\n")
    assert JOBS[ci](job, environment) == 0
    assert served.texts == [f"{MARKER}### One\n"]
    job.reviews("### Two\n", status)
    assert JOBS[ci](job, environment) == status
    assert served.texts == [f"{MARKER}### Two\n"]


@pytest.mark.long
@pytest.mark.parametrize("ci", JOBS)
def test_what_cannot_be_planned_fails_with_the_errors_as_comment(
    ci: str, served: Forge, tmp_path: Path
) -> None:
    job = Job.written(ci, tmp_path)
    job.reviews("", 1)
    assert JOBS[ci](job, RUNS[ci](served, tmp_path, False)) == 1
    (text,) = served.texts
    assert "```\nerror: as told\n```" in text


@pytest.mark.long
@pytest.mark.parametrize("ci", JOBS)
@pytest.mark.parametrize("status", [0, 3])
def test_the_run_of_a_fork_ends_as_its_review(
    ci: str, status: int, served: Forge, tmp_path: Path
) -> None:
    job = Job.written(ci, tmp_path)
    job.reviews("### One\n", status)
    assert JOBS[ci](job, RUNS[ci](served, tmp_path, True)) == status
    assert len(served.comments) == (1 if ci == "github" else 0)


@pytest.mark.long
@pytest.mark.parametrize("ci", JOBS)
def test_hostile_text_goes_through_the_shell_as_it_is(
    ci: str, served: Forge, tmp_path: Path
) -> None:
    job = Job.written(ci, tmp_path)
    job.reviews(HOSTILE, 3)
    assert JOBS[ci](job, RUNS[ci](served, tmp_path, False)) == 3
    assert served.texts == [MARKER + HOSTILE.replace("@everyone", "@\u200beveryone")]
    assert list(job.repository.rglob("hacked")) == []


@pytest.mark.long
@pytest.mark.parametrize("ci", JOBS)
def test_it_asks_for_the_merge_base_and_runs_no_program(
    ci: str, served: Forge, tmp_path: Path
) -> None:
    job = Job.written(ci, tmp_path)
    job.reviews("x")
    JOBS[ci](job, RUNS[ci](served, tmp_path, False))
    base = "0" * 40 if ci == "gitlab" else f"{job.merged}^1"
    (asked,) = job.asked
    assert asked.startswith(f"fleet --base {base} --no-program --also markdown=")
    if ci == "gitlab":
        JOBS[ci](
            job,
            {**RUNS[ci](served, tmp_path, False), "CI_MERGE_REQUEST_TARGET_BRANCH_SHA": "f" * 40},
        )
        assert job.asked[-1].startswith(f"fleet --base {'f' * 40} --no-program --also markdown=")


@pytest.mark.long
@pytest.mark.parametrize(
    ("ci", "variable", "between"),
    [("github", "LABELS", " "), ("gitlab", "CI_MERGE_REQUEST_LABELS", ",")],
)
def test_a_label_confirms_a_loss(
    ci: str, variable: str, between: str, served: Forge, tmp_path: Path
) -> None:
    job = Job.written(ci, tmp_path)
    job.reviews("x")
    labels = between.join(
        ["bug", "fleet-confirm-d2e0886a", "*", "$(touch hacked)", "fleet-confirm-01234567"]
    )
    JOBS[ci](job, {**RUNS[ci](served, tmp_path, False), variable: labels})
    assert "--no-program --confirm d2e0886a --confirm 01234567 --also " in job.asked[-1]
    assert list(job.repository.rglob("hacked")) == []


MEMBERS = [
    "--member=east:environment=production",
    "--member=west",
    "--member=north:environment=production",
]
NOWHERE = """PickAll
    affinity:
      clusterAffinity:
        requiredDuringSchedulingIgnoredDuringExecution:
          clusterSelectorTerms: [{labelSelector: {matchLabels: {environment: none}}}]
"""
CHANGES = {
    "all members leave": (
        "fleet/placement.yaml",
        "PickAll\n",
        NOWHERE,
        3,
        "refused: hello loses 3 clusters",
    ),
    "nothing": ("README.md", "", "hello", 0, "nothing changes"),
    "a member leaves": ("fleet/placement.yaml", "    # ", "    ", 0, "hello loses west"),
    "no fleet": ("fleet/app.yaml", "kind: Namespace", "kind: {", 1, "error: fleet/app.yaml:"),
    "what the hub would refuse": (
        "fleet/placement.yaml",
        "PickAll",
        "PickFixed",
        1,
        "error: fleet/placement.yaml:",
    ),
    "a program": (
        "fleet/Chart.yaml",
        "",
        "name: x\nversion: 1.0.0\napiVersion: v2\n",
        1,
        "built by a program",
    ),
}


@pytest.mark.long
@pytest.mark.parametrize("ci", JOBS)
@pytest.mark.parametrize("change", CHANGES)
def test_the_real_review_of_a_branch_is_the_comment(
    ci: str, change: str, served: Forge, tmp_path: Path
) -> None:
    file, old, new, status, said = CHANGES[change]
    job = Job.written(ci, tmp_path, *MEMBERS)
    job.branches(file, old, new)
    environment = RUNS[ci](served, tmp_path, False)
    assert JOBS[ci](job, {**environment, "CI_MERGE_REQUEST_DIFF_BASE_SHA": job.base}) == status, (
        job.log
    )
    (text,) = served.texts
    assert text.startswith(f"{MARKER}### Fleet")
    assert said in text


@pytest.mark.long
@pytest.mark.parametrize("ci", JOBS)
@pytest.mark.parametrize(
    "planted", [".fleet-review/review.md", "review/review.md", "linked/review.md"]
)
def test_a_review_that_the_branch_brings_is_not_posted(
    ci: str, planted: str, served: Forge, tmp_path: Path
) -> None:
    job = Job.written(ci, tmp_path, *MEMBERS)
    fine = "### Fleet review\n\n**nothing changes**\n"
    if planted.startswith("linked"):
        (job.repository / ".fleet-review").symlink_to("linked")
    job.branches(planted, "", fine, also=("fleet/app.yaml", "kind: Namespace", "kind: {"))
    environment = RUNS[ci](served, tmp_path, False)
    assert JOBS[ci](job, {**environment, "CI_MERGE_REQUEST_DIFF_BASE_SHA": job.base}) == 1, job.log
    (text,) = served.texts
    assert ("error: fleet/app.yaml:" in text, "nothing changes" in text) == (True, False)
    if ci == "gitlab":  # an artifact has to be in the checkout
        assert sorted(path.name for path in (job.repository / ".fleet-review").iterdir()) == [
            "errors.txt"
        ]
    assert planted.startswith(".fleet") or (job.repository / planted).read_text() == fine


HUB = "apiVersion: v1\nkind: Config  # a 'hub'\n"


def hub_kubeconfig(ci: str, folder: Path) -> str:
    """What the variable of the kubeconfig holds: a text, its base64, or the path of a file."""
    if ci == "gitlab":
        (folder / "given").write_text(HUB)
        (folder / "given").chmod(0o600)
        return str(folder / "given")
    return base64.b64encode(HUB.encode()).decode() if ci == "azure-devops" else HUB.rstrip("\n")


@pytest.mark.long
@pytest.mark.parametrize("ci", JOBS)
def test_the_job_that_observes_commits_what_has_changed(ci: str, tmp_path: Path) -> None:
    job = Job.written(ci, tmp_path)
    job.observed(ci)
    environment = {"FLEET_KUBECONFIG": hub_kubeconfig(ci, tmp_path), "FLEET_PUSH_TOKEN": TOKEN}
    (job.stub / "status").write_text("0")
    (job.stub / "hub.yaml").write_text(HEADER.format("yesterday"))
    assert observing(ci, job, environment) == 0, job.log
    assert job.pushed.startswith("main\n"), "nothing has changed, and nothing is pushed"
    (job.stub / "hub.yaml").write_text(HEADER.format("today"))
    assert observing(ci, job, environment) == 0, job.log
    assert re.match(
        r"Observe the hub( \[skip ci\])?\n\nfleet/observed/hub.yaml\nmain\n", job.pushed
    )
    assert (job.stub / "kubeconfig").read_text() == f"{HUB}600\n"
    assert all(re.fullmatch(r"--hub \S+ --out fleet --update --strict", item) for item in job.asked)
    if ci != "gitlab":
        assert not (job.stub / "fleet-kubeconfig").exists(), "the kubeconfig does not stay"


@pytest.mark.parametrize("status", [1, 3])
@pytest.mark.parametrize("ci", JOBS)
def test_nothing_is_committed_where_observing_fails(ci: str, status: int, tmp_path: Path) -> None:
    job = Job.written(ci, tmp_path)
    job.observed(ci)
    (job.stub / "status").write_text(str(status))
    (job.stub / "hub.yaml").write_text(HEADER.format("today"))
    environment = {"FLEET_KUBECONFIG": hub_kubeconfig(ci, tmp_path), "FLEET_PUSH_TOKEN": TOKEN}
    assert observing(ci, job, environment) == status
    assert job.pushed.startswith("main\n")
    assert not (job.stub / "fleet-kubeconfig").exists()


def scripts(data: Any) -> Iterator[str]:
    """The texts that a shell gets."""
    if isinstance(data, dict):
        for key, value in data.items():
            if key in ("run", "bash", "script"):
                yield from [value] if isinstance(value, str) else value
            else:
                yield from scripts(value)
    for item in data if isinstance(data, list) else ():
        yield from scripts(item)


@pytest.mark.parametrize("ci", JOBS)
def test_no_expression_stands_in_a_script(ci: str, tmp_path: Path) -> None:
    """What an expression stands for is put into the text before a shell reads it: a branch could be called $(...)."""
    job = Job.written(ci, tmp_path)
    found = [text for file in files(ci, job) for text in scripts(yaml.safe_load(file.read_text()))]
    assert len(found) >= 2
    assert [
        text for text in found if "${{" in text or re.search(r"\$\((?!cd )[A-Za-z.]+\)", text)
    ] == []
    for text in found:
        assert (
            subprocess.run(["bash", "-n", "-c", text], capture_output=True, text=True).stderr == ""
        )


@pytest.mark.parametrize("ci", JOBS)
def test_the_artifact_is_kept_whatever_the_review_says(ci: str, tmp_path: Path) -> None:
    job = Job.written(ci, tmp_path)
    if ci == "gitlab":
        assert job.read(".gitlab/fleet-review.yml")["fleet-review"]["artifacts"]["when"] == "always"
        return
    data = job.read(next(iter(WORKFLOWS[ci])))
    steps = data["steps"] if ci == "azure-devops" else data["jobs"]["review"]["steps"]
    (upload,) = [step for step in steps if "publish" in step or "upload" in step.get("uses", "")]
    assert (
        "!cancelled()" in upload.get("if", "") or upload.get("condition") == "succeededOrFailed()"
    )
    where = str(upload.get("publish") or upload["with"]["path"]).rpartition("/")[2]
    assert any(f'/{where}" status=0' in script for script in scripts(data))


def test_the_review_of_a_stranger_has_no_rights_and_the_comment_runs_nothing_of_them(
    tmp_path: Path,
) -> None:
    job = Job.written("github", tmp_path)
    review, comment = (
        job.read(f".github/workflows/fleet-{name}.yml") for name in ("review", "comment")
    )
    # YAML 1.1 reads the key "on" as a truth value.
    assert (list(review[True]), review["permissions"]) == (["pull_request"], {"contents": "read"})
    assert list(comment[True]) == ["workflow_run"]
    assert comment[True]["workflow_run"]["workflows"] == [review["name"]]
    assert comment["permissions"] == {"actions": "read", "pull-requests": "write"}
    assert "secrets." not in str(review) + str(comment)
    used = [step.get("uses", "") for step in comment["jobs"]["comment"]["steps"]]
    assert not any("checkout" in item for item in used)
    every = [
        step["uses"]
        for item in (review, comment)
        for job_ in item["jobs"].values()
        for step in job_["steps"]
        if "uses" in step
    ]
    assert all(item.startswith("actions/") for item in every)
    (checkout,) = [
        step for step in review["jobs"]["review"]["steps"] if "checkout" in step.get("uses", "")
    ]
    assert checkout["with"] == {"fetch-depth": 0, "persist-credentials": False}


def test_every_action_is_a_commit_with_its_release_and_is_kept_up_to_date(tmp_path: Path) -> None:
    job = Job.written("github", tmp_path)
    job.observed("github")
    text = "".join(file.read_text() for file in files("github", job))
    used = re.findall(r"uses: (.*)", text)
    assert len(used) >= 6
    assert [
        item
        for item in used
        if not re.fullmatch(r"actions/[a-z-]+@[0-9a-f]{40}  # v\d+\.\d+\.\d+", item)
    ] == []
    assert len({item.partition("@")[0] for item in used}) == len(set(used)), (
        "one commit of each action"
    )
    updater = job.repository / ".github/dependabot.yml"
    done = CliRunner().invoke(
        check_jsonschema, ["--builtin-schema", "vendor.dependabot", str(updater)]
    )
    assert done.exit_code == 0, done.output
    (item,) = yaml.safe_load(updater.read_text())["updates"]
    assert (item["package-ecosystem"], item["directory"]) == ("github-actions", "/")


@pytest.mark.parametrize("name", [".github/dependabot.yml", ".github/dependabot.yaml"])
def test_an_updater_that_is_there_stays(name: str, tmp_path: Path) -> None:
    there = tmp_path / "repository" / name
    there.parent.mkdir(parents=True)
    there.write_text("version: 2\n")
    job = Job.written("github", tmp_path)
    assert there.read_text() == "version: 2\n"
    assert [path.name for path in there.parent.glob("dependabot.*")] == [there.name]
    assert "let .github/dependabot.yml have package-ecosystem: github-actions" in job.said


@pytest.mark.parametrize("ci", JOBS)
def test_the_token_is_in_the_step_that_posts_and_in_no_other(ci: str, tmp_path: Path) -> None:
    job = Job.written(ci, tmp_path)
    if ci != "gitlab":  # where a variable of the project is in every job
        text = "".join(file.read_text() for file in files(ci, job))
        assert len(re.findall(r"^ +FLEET_COMMENT_TOKEN: ", text, re.MULTILINE)) == 1


@pytest.mark.parametrize("ci", JOBS)
def test_the_command_that_installs_is_the_one_that_was_given(ci: str, tmp_path: Path) -> None:
    given = "pip install -c 'a b.txt' \"x[cli]\" # {}: \\ % $A"
    job = Job.written(ci, tmp_path, "--install", given)
    found = [text for file in files(ci, job) for text in scripts(yaml.safe_load(file.read_text()))]
    assert given in [text.strip() for text in found]
    assert INSTALL not in "".join(found)


REQUIREMENTS = """\
# by pip-compile
--index-url https://index.example/simple
attrs==26.1.0 \\
    --hash=sha256:aa \\
    --hash=sha256:bb
    # via fleet-components
fleet-components[cli] @ https://files.example/a.whl ; python_version > '3' --hash=sha256:cc
"""
LISTED = [
    "--index-url https://index.example/simple",
    "attrs==26.1.0 --hash=sha256:aa --hash=sha256:bb",
    "fleet-components[cli] @ https://files.example/a.whl ; python_version > '3' --hash=sha256:cc",
]
PIP = '#!/bin/sh\necho "$*" >> "$STUB/pip-asked"\ncat /dev/stdin >> "$STUB/pip-asked"\n'


@pytest.mark.samples(1)
@pytest.mark.parametrize("ci", JOBS)
def test_a_job_installs_what_it_lists_itself_by_its_hashes(
    ci: str, served: Forge, tmp_path: Path
) -> None:
    (tmp_path / "list.txt").write_text(REQUIREMENTS)
    job = Job.written(ci, tmp_path, "--requirements", str(tmp_path / "list.txt"))
    (job.stub / "pip").write_text(PIP)
    (tmp_path / "list.txt").write_text("what a branch makes of the file has no say")
    job.reviews("x")
    assert JOBS[ci](job, RUNS[ci](served, tmp_path, False)) == 0, job.log
    asked = (job.stub / "pip-asked").read_text().splitlines()
    assert asked[:4] == ["install --require-hashes -r /dev/stdin", *LISTED]
    done = CliRunner().invoke(check_jsonschema, [*SCHEMAS[ci], *map(str, files(ci, job))])
    assert done.exit_code == 0, done.output


OURS = "fleet-components @ https://files.example/a.whl --hash=sha256:cc\n"
UNFIT = {
    "no hash": (f"{OURS}attrs==26.1.0\n", "has no --hash: attrs==26.1.0"),
    "a file": (f"{OURS}-r other.txt --hash=sha256:aa\n", "names a file that a job does not have"),
    "the checkout": (f"{OURS}-e . --hash=sha256:aa\n", "names a file that a job does not have"),
    "an expression": (
        f"{OURS}a==1 --hash=${{{{ secrets.A }}}}\n",
        "a CI system would read it otherwise",
    ),
    "a command": (f"{OURS}a==1 --hash=\x1b[2J\n", "a CI system would read it otherwise"),
    "not the package": ("attrs==26.1.0 --hash=sha256:aa\n", "does not list fleet-components"),
}


@pytest.mark.parametrize("name", UNFIT)
def test_requirements_that_no_job_could_install_are_refused(name: str, tmp_path: Path) -> None:
    text, said = UNFIT[name]
    (tmp_path / "list.txt").write_text(text)
    words = [
        "init",
        str(tmp_path / "fleet"),
        "--ci",
        "github",
        "--requirements",
        str(tmp_path / "list.txt"),
    ]
    (tmp_path / ".git").mkdir()
    result = CliRunner().invoke(fleet, words)
    assert (result.exit_code, said in result.stderr) == (1, True), result.output
    assert sorted(path.name for path in tmp_path.iterdir()) == [".git", "list.txt"]


@pytest.mark.parametrize(
    "name",
    [name for group in (WORKFLOWS, OBSERVING) for of in group.values() for name in of.values()],
)
def test_a_place_in_a_template_is_filled(name: str) -> None:
    with pytest.raises(KeyError):
        template(name).text()


DIGEST = f"registry.example.com:5000/tools/python:3.13@sha256:{'0a' * 32}"


@pytest.mark.parametrize("given", [True, False])
def test_all_jobs_of_gitlab_run_in_the_image_that_is_given(given: bool, tmp_path: Path) -> None:
    job = Job.written("gitlab", tmp_path, *(["--image", DIGEST] if given else []))
    assert ("is a tag, which can move: --image" in job.said) != given
    job.observed("gitlab", *(["--image", DIGEST] if given else []))
    jobs = [
        item
        for path in files("gitlab", job)[:-1]
        for item in yaml.safe_load(path.read_text()).values()
    ]
    assert [item["image"] for item in jobs] == [DIGEST if given else "python:3.13"] * 2


@pytest.mark.parametrize(
    "image", ["", "python:3.13", "python@sha256:0a", f"{DIGEST}\n", f"a b{DIGEST}", f"{DIGEST}#"]
)
def test_an_image_without_a_digest_is_refused(image: str, tmp_path: Path) -> None:
    words = [
        "init",
        str(tmp_path / "fleet"),
        "--ci",
        "gitlab",
        "--install",
        INSTALL,
        "--image",
        image,
    ]
    done = CliRunner().invoke(fleet, words)
    assert (done.exit_code, "--image has no digest" in done.output) == (1, True)
    assert not (tmp_path / "fleet").exists()


@pytest.mark.parametrize("ci", ["github", "azure-devops"])
def test_other_systems_take_no_image(ci: str, tmp_path: Path) -> None:
    words = ["init", str(tmp_path / "fleet"), "--ci", ci, "--install", INSTALL, "--image", DIGEST]
    done = CliRunner().invoke(fleet, words)
    assert (done.exit_code, "--image is that of the jobs of --ci gitlab" in done.output) == (
        1,
        True,
    )
