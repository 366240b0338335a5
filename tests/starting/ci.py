"""Runs the shell parts of the workflows that ``fleet init`` writes, step by step, as the CI systems do."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs
import yaml
from click.testing import CliRunner

from fleet_components.cli.command import fleet
from fleet_components.starting.workflow import GITLAB, OBSERVING, WORKFLOWS
from tests.forges.fake import TOKEN

HEADER = "apiVersion: fleet-components/v1\nkind: Observation\nspec: {{asOf: {}}}\n"
"""The header of an observed directory, of a time."""
INSTALL = "pip install --no-index --find-links /wheels 'fleet-components[cli]'"
NO_COMMIT = "0" * 40
STUB = """\
#!/bin/sh
case "$1" in
review)
    shift
    printf '%s\\n' "$*" >> "$STUB/asked"
    for word; do
        case "$word" in
        markdown=*) test -s "$STUB/review.md" && cp "$STUB/review.md" "${word#*=}";;
        json=*) echo '{}' > "${word#*=}";;
        esac
    done
    echo 'error: as told' >&2
    exit "$(cat "$STUB/status")";;
observe)
    shift
    printf '%s\\n' "$*" >> "$STUB/asked"
    cp "$2" "$STUB/kubeconfig"
    stat -c %a "$2" >> "$STUB/kubeconfig"
    cp "$STUB/hub.yaml" fleet/observed/hub.yaml
    exit "$(cat "$STUB/status")";;
*) exec PYTHON -m fleet_components.cli "$@";;
esac
"""


@attrs.define
class Job:
    """A workflow in a repository, with a ``fleet`` whose review is prepared.

    Attributes:
        repository: the checkout.
        stub: where the prepared review is, and what was asked is written to.
        said: what ``fleet init`` has printed.
        merged: the commit that a forge makes of main and the branch, and that it builds.
    """

    repository: Path
    stub: Path
    merged: str = NO_COMMIT
    said: str = ""

    @classmethod
    def written(cls, ci: str, top: Path, *more: str) -> Job:
        """Write the workflow with the command into a new repository."""
        job = cls(top / "repository", top / "stub")
        for folder in (job.repository / ".git", job.stub):
            folder.mkdir(parents=True)
        source = () if {"--install", "--requirements"} & {*more} else ("--install", INSTALL)
        words = ["init", str(job.repository / "fleet"), "--ci", ci, *source, *more]
        done = CliRunner().invoke(fleet, words)
        assert done.exit_code == 0, done.output
        job.said = done.output
        for name, text in (
            ("fleet", STUB.replace("PYTHON", shlex.quote(sys.executable))),
            ("pip", "#!/bin/sh\n"),
        ):
            (job.stub / name).write_text(text)
            (job.stub / name).chmod(0o755)
        return job

    def branches(
        self, file: str, old: str, new: str, also: tuple[str, str, str] | None = None
    ) -> None:
        """Commit what is there as main, and a branch on which a file has another text; the review is a real one.

        Tags of the names of the base lead to the branch, and what a forge makes of both is checked out.
        """
        shutil.rmtree(self.repository / ".git")
        (self.stub / "fleet").write_text(
            f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m fleet_components.cli "$@"\n'
        )
        self._git("init", "-q", "-b", "main", ".")
        self._git("add", ".")
        self._git("commit", "-q", "-m", "main")
        self._git("update-ref", "refs/remotes/origin/main", "main")
        self._git("switch", "-q", "-c", "change")
        self._edit(file, old, new)
        if also:
            self._edit(*also)
        self._git("add", ".")
        self._git("commit", "-q", "-m", "branch")
        self._git("switch", "-q", "--detach", "main")
        self._git("merge", "-q", "--no-ff", "-m", "merged", "change")
        self.merged = self._git("rev-parse", "HEAD").strip()
        for name in ("main", "origin/main"):
            self._git("tag", name, "change")

    def _edit(self, file: str, old: str, new: str) -> None:
        path = self.repository / file
        text = path.read_text() if path.exists() else ""
        assert old in text
        path.parent.mkdir(exist_ok=True, parents=True)
        path.write_text(text.replace(old, new))

    def observed(self, ci: str, *more: str) -> None:
        """Let the fleet be one of ``fleet observe``, in a clone of what is pushed to, and write its workflow."""
        hub = self.repository / "fleet" / "observed" / "hub.yaml"
        hub.parent.mkdir()
        hub.write_text(HEADER.format("yesterday"))
        shutil.rmtree(self.repository / ".git")
        for file in (*WORKFLOWS[ci], GITLAB):
            (self.repository / file).unlink(missing_ok=True)
        self._git("init", "-q", "-b", "main", ".")
        done = CliRunner().invoke(
            fleet, ["init", str(self.repository / "fleet"), "--ci", ci, "--install", INSTALL, *more]
        )
        assert done.exit_code == 0, done.output
        assert "fleet-observe.yml" in done.output
        self._git("add", ".")
        self._git("commit", "-q", "-m", "main")
        self._git("clone", "-q", "--bare", ".", str(self.stub / "acme" / "shop.git"))
        self._git(
            "--git-dir",
            str(self.stub / "acme" / "shop.git"),
            "config",
            "receive.advertisePushOptions",
            "true",
        )
        self._git("remote", "add", "origin", str(self.stub / "acme" / "shop.git"))
        self._git("fetch", "-q", "origin")
        self._git("branch", "-q", "--set-upstream-to", "origin/main")

    @property
    def pushed(self) -> str:
        """The subjects and files of the commits of main where it is pushed to, newest first."""
        return self._git(
            "--git-dir",
            str(self.stub / "acme" / "shop.git"),
            "log",
            "--format=%s",
            "--name-only",
            "main",
        )

    @property
    def log(self) -> str:
        """What the last script has printed."""
        return (self.stub / "log").read_text()

    @property
    def base(self) -> str:
        """The commit of main."""
        return self._git("rev-parse", "refs/heads/main").strip()

    def _git(self, *arguments: str) -> str:
        names = {
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_CONFIG_SYSTEM": os.devnull,
            "PATH": os.environ["PATH"],
        }
        command = ["git", "-c", "user.name=a", "-c", "user.email=a@example.com", *arguments]
        done = subprocess.run(
            command, cwd=self.repository, env=names, check=True, capture_output=True, text=True
        )
        return done.stdout

    def reviews(self, text: str, status: int = 0) -> None:
        """Prepare what the next ``fleet review`` prints, and how it ends."""
        (self.stub / "review.md").write_text(text)
        (self.stub / "status").write_text(str(status))

    @property
    def asked(self) -> list[str]:
        """The arguments of each ``fleet review``."""
        return (self.stub / "asked").read_text().splitlines()

    def read(self, file: str) -> dict[Any, Any]:
        data = yaml.safe_load((self.repository / file).read_text())
        assert isinstance(data, dict)
        return data

    def shell(self, script: str, environment: Mapping[str, str], *, stops: bool) -> int:
        """Run a script in the checkout and return its status; ``stops`` at the first command that fails."""
        names = ("HOME", "PYTHONPATH", "LANG")
        base = {name: os.environ[name] for name in names if name in os.environ} | {
            "NO_PROXY": "127.0.0.1"
        }
        base |= {"PATH": f"{self.stub}:{os.environ['PATH']}", "STUB": str(self.stub)}
        command = ["bash", *(["-e"] if stops else []), "-c", script]
        done = subprocess.run(
            command,
            cwd=self.repository,
            env={**base, **environment},
            capture_output=True,
            text=True,
        )
        (self.stub / "log").write_text(done.stdout + done.stderr)
        return done.returncode


def github(job: Job, environment: Mapping[str, str]) -> int:
    """Run both workflows, with the artifact handed on, and return the status of the check on the pull request."""
    own = {
        "RUNNER_TEMP": str(job.stub / "temp"),
        "GITHUB_WORKSPACE": str(job.repository),
        "GITHUB_SHA": job.merged,
    }
    own |= {
        "GITHUB_STEP_SUMMARY": str(job.stub / "summary"),
        "LABELS": environment.get("LABELS", ""),
    }
    (job.stub / "temp").mkdir(exist_ok=True)
    review = job.read(".github/workflows/fleet-review.yml")["jobs"]["review"]
    status = _steps(job, review["steps"], own, "run", stops=True)
    comment = job.read(".github/workflows/fleet-comment.yml")["jobs"]["comment"]
    assert _steps(job, comment["steps"], {**own, **environment}, "run", stops=True) == 0
    return status


def gitlab(job: Job, environment: Mapping[str, str]) -> int:
    """Run the job; its lines are one script."""
    script = job.read(".gitlab/fleet-review.yml")["fleet-review"]["script"]
    own = {"CI_MERGE_REQUEST_DIFF_BASE_SHA": NO_COMMIT}
    return job.shell("\n".join(script), {**own, **environment}, stops=True)


def azure_devops(job: Job, environment: Mapping[str, str]) -> int:
    """Run the steps; a step for which forks are ruled out is left out for them."""
    staging = job.stub / "staging"
    own = {
        "BUILD_ARTIFACTSTAGINGDIRECTORY": str(staging),
        "BUILD_SOURCESDIRECTORY": str(job.repository),
    }
    own |= {"BUILD_SOURCEVERSION": job.merged}
    steps = job.read(".azure-pipelines/fleet-review.yml")["steps"]
    fork = environment.get("SYSTEM_PULLREQUEST_ISFORK") == "True"
    kept = [
        step
        for step in steps
        if not (fork and "ne(variables['System.PullRequest.IsFork'], 'True')" in str(step))
    ]
    return _steps(job, kept, {**own, **environment}, "bash", stops=False)


def observing(ci: str, job: Job, environment: Mapping[str, str]) -> int:
    """Run the job that observes the hub, and return its status."""
    own = {
        "RUNNER_TEMP": str(job.stub),
        "AGENT_TEMPDIRECTORY": str(job.stub),
        "BUILD_SOURCEBRANCH": "refs/heads/main",
    }
    own |= {
        "CI_SERVER_HOST": "git.example.com",
        "CI_SERVER_URL": f"file://{job.stub}",
        "CI_PROJECT_PATH": "acme/shop",
    }
    own |= {"CI_COMMIT_BRANCH": "main", "GIT_CONFIG_GLOBAL": os.devnull, **environment}
    (file,) = OBSERVING[ci]
    data = job.read(file)
    if ci == "gitlab":
        return job.shell("\n".join(data["fleet-observe"]["script"]), own, stops=True)
    steps, key = (
        (data["steps"], "bash")
        if ci == "azure-devops"
        else (data["jobs"]["observe"]["steps"], "run")
    )
    own.update(FLEET_KUBECONFIG=environment["FLEET_KUBECONFIG"])
    return next(
        (
            status
            for step in steps
            if key in step
            if (status := job.shell(step[key], own, stops=ci == "github"))
        ),
        0,
    )


JOBS = {"github": github, "gitlab": gitlab, "azure-devops": azure_devops}


def _steps(
    job: Job,
    steps: Sequence[dict[str, Any]],
    environment: Mapping[str, str],
    key: str,
    *,
    stops: bool,
) -> int:
    """Run the shell steps until one fails, then those that run nevertheless; return the first status that is not 0."""
    failed = 0
    hidden = {name: value for name, value in environment.items() if name != "FLEET_COMMENT_TOKEN"}
    for step in steps:
        always = "!cancelled()" in str(step.get("if")) or "succeededOrFailed()" in str(
            step.get("condition")
        )
        if key in step and (always or not failed):
            asked = {
                name: re.sub(r"\$\{\{.*\}\}|\$\(.*\)", TOKEN, value)
                for name, value in step.get("env", {}).items()
            }
            failed = job.shell(step[key], {**asked, **hidden}, stops=stops) or failed
    return failed
