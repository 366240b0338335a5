"""The workflow that reviews pull requests, for each CI system."""

from __future__ import annotations

import re
from pathlib import Path

from fleet_components.content.observed import is_observed
from fleet_components.content.paths import within
from fleet_components.hub.folder.header import has_hub
from fleet_components.model.message import Message
from fleet_components.model.problem import FleetError, Problem
from fleet_components.starting.fleet import template

WORKFLOWS = {
    "github": {
        ".github/workflows/fleet-review.yml": "fleet-review.yml",
        ".github/workflows/fleet-comment.yml": "fleet-comment.yml",
    },
    "gitlab": {".gitlab/fleet-review.yml": "gitlab-ci.yml"},
    "azure-devops": {".azure-pipelines/fleet-review.yml": "azure-pipelines.yml"},
}
"""Template of each file, by CI system. The folders are hidden: a fleet may be the whole
repository.
"""
OBSERVING = {
    "github": {".github/workflows/fleet-observe.yml": "fleet-observe.yml"},
    "gitlab": {".gitlab/fleet-observe.yml": "gitlab-observe.yml"},
    "azure-devops": {".azure-pipelines/fleet-observe.yml": "azure-observe.yml"},
}
"""The same of the job that keeps an observed directory up to date."""
_OF_HUB = {
    "source": "the hub",
    "option": "--hub",
    "kubeconfig": "the kubeconfig of a user with the role that `fleet observe --rbac` prints",
}
_OF_CLUSTERS = {
    "source": "the clusters",
    "option": "--members",
    "kubeconfig": (
        "a kubeconfig with a context for each cluster, of users who may list nodes and pods"
    ),
}
"""Words in those templates for a hub, and for clusters without one."""
UPDATER = ".github/dependabot.yml"
"""File of GitHub that asks for newer commits of actions; its other name ends in ``.yaml``."""
GITLAB = ".gitlab-ci.yml"
_PLAIN = re.compile(r"[A-Za-z0-9_.][A-Za-z0-9_./-]*")


def gitlab_include(*, observed: bool) -> str:
    """Return the text that GitLab's own file needs, of a fleet that is observed or not."""
    files = (*WORKFLOWS["gitlab"], *(OBSERVING["gitlab"] if observed else ()))
    return "include:\n" + "".join(f"  - local: {file}\n" for file in files)


def repository_of(folder: Path) -> Path:
    """Return the top of the git repository that a folder is in, or is to be in; the current folder
    without one.
    """
    at = folder.resolve()
    return next((parent for parent in (at, *at.parents) if (parent / ".git").exists()), Path.cwd())


def has_updater(top: Path) -> bool:
    """Return whether a repository has a file that asks for newer actions, or for other things."""
    return any((top / UPDATER).with_suffix(end).exists() for end in (".yml", ".yaml"))


def workflow_files(ci: str, top: Path, folder: Path, install: str, image: str) -> dict[Path, str]:
    """Return the text of each file of a workflow: of the review, and, for an observed directory, of
    its job.

    Args:
        ci: the CI system.
        top: the top of the repository.
        folder: the folder of the fleet.
        install: the shell command that installs the package.
        image: the image of the jobs, where they have one: on GitLab.

    Raises:
        FleetError: the folder is not in the repository or has a name for which a shell has other
            plans.
    """
    problems = []
    if not within(folder, top):
        problems.append(
            Problem(
                Message("is-not-in", "is not in {top}", top=top),
                file=str(folder),
                hint="go to the repository of the fleet first",
            )
        )
    else:
        name = folder.resolve().relative_to(top.resolve()).as_posix()
        if not _PLAIN.fullmatch(name):
            what, hint = (
                Message("workflow-cannot-name-folder", "a workflow cannot name this folder"),
                "letters, digits, ., _, - and / are fine",
            )
            problems.append(Problem(what, file=name, hint=hint))
    if problems:
        raise FleetError(problems)
    glob = "**" if name == "." else f"{name}/**"
    values = {"dir": name, "glob": glob, "filter": "/*" if name == "." else f"/{name}/*"}
    values |= {"install": install, "image": image}
    observed = is_observed(folder)
    values |= _OF_HUB if has_hub(folder) else _OF_CLUSTERS
    files = {**WORKFLOWS[ci], **(OBSERVING[ci] if observed else {})}
    found = {top / file: template(text).text(**values) for file, text in files.items()}
    if ci == "github" and not has_updater(top):
        found[top / UPDATER] = template("dependabot.yml").text()
    if ci == "gitlab" and not (top / GITLAB).exists():
        found[top / GITLAB] = gitlab_include(observed=observed)
    return found
