"""What each CI system tells a run of a pull request, as environment."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.forges.fake import TOKEN, Forge

COMMIT = "1a2b3c4d" * 5
Run = Callable[[Forge, Path, bool], dict[str, str]]
"""Function that returns the environment, from the forge, a folder of its own, and whether the head is a fork."""


def head(owner: str, commit: str = COMMIT, ref: str = "change") -> dict[str, Any]:
    return {"sha": commit, "ref": ref, "repo": {"full_name": f"{owner}/shop", "owner": owner}}


def github(forge: Forge, folder: Path, fork: bool = False) -> dict[str, str]:
    owner = "stranger" if fork else "acme"
    forge.pulls = [{"number": 7, "head": head(owner)}]
    repository = {"full_name": f"{owner}/shop", "owner": {"login": owner}}
    run = {
        "head_sha": COMMIT,
        "head_branch": "change",
        "head_repository": repository,
        "pull_requests": [],
    }
    event = {"workflow_run": {**run, "repository": {"full_name": "acme/shop"}}}
    (folder / "event.json").write_text(json.dumps(event))
    names = {"GITHUB_REPOSITORY": "acme/shop", "GITHUB_EVENT_PATH": str(folder / "event.json")}
    return {**names, "GITHUB_API_URL": forge.url, "FLEET_COMMENT_TOKEN": TOKEN}


def gitlab(forge: Forge, folder: Path, fork: bool = False) -> dict[str, str]:
    names = {
        "CI_API_V4_URL": forge.url,
        "CI_MERGE_REQUEST_PROJECT_ID": "5",
        "CI_MERGE_REQUEST_IID": "7",
    }
    names["CI_MERGE_REQUEST_SOURCE_PROJECT_ID"] = "6" if fork else "5"
    return names if fork else {**names, "FLEET_COMMENT_TOKEN": TOKEN}


def azure_devops(forge: Forge, folder: Path, fork: bool = False) -> dict[str, str]:
    names = {
        "SYSTEM_COLLECTIONURI": f"{forge.url}/",
        "SYSTEM_TEAMPROJECTID": "tp",
        "BUILD_REPOSITORY_ID": "repo",
    }
    names |= {"SYSTEM_PULLREQUEST_PULLREQUESTID": "7", "SYSTEM_PULLREQUEST_ISFORK": str(fork)}
    return {**names, "FLEET_COMMENT_TOKEN": TOKEN}


RUNS: dict[str, Run] = {"github": github, "gitlab": gitlab, "azure-devops": azure_devops}
