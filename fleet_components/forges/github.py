"""Pull requests on GitHub. A run of a fork has no right to comment: a second one, after it, has, and runs nothing."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

import attrs

from fleet_components.content.guarded import UnreadableError, read_json
from fleet_components.content.regular_file import read_regular
from fleet_components.forges.api import Api
from fleet_components.forges.forge import NothingToDoError, Request, setting, token_of
from fleet_components.model.problem import FleetError, Problem

_WHERE = "a workflow of GitHub, on pull_request or workflow_run"
_TOKEN_HINT = "env: {FLEET_COMMENT_TOKEN: ${{ github.token }}} in the step"
_RIGHTS_HINT = "the workflow needs permissions: {pull-requests: write}"


@attrs.frozen
class PullRequest(Request):
    """A pull request.

    Attributes:
        api: the API of its repository.
        number: its number.
    """

    api: Api
    number: int

    def find(self, marker: str) -> str:
        """Return the ID of a comment of a bot; one of somebody who only writes the marker is left alone."""
        for one in self.api.pages(f"/issues/{self.number}/comments"):
            if str(one.get("body")).startswith(marker) and (one.get("user") or {}).get("type") == "Bot":
                return str(one["id"])
        return ""

    def post(self, text: str) -> None:
        """Post a comment."""
        self.api.ask("POST", f"/issues/{self.number}/comments", {"body": text})

    def update(self, comment: str, text: str) -> None:
        """Update a comment."""
        self.api.ask("PATCH", f"/issues/comments/{comment}", {"body": text})


def pull_request(environment: Mapping[str, str]) -> PullRequest:
    """Return the pull request that a run is about, from its event and from the API; never from the run's artifact.

    Raises:
        FleetError: it is no run of GitHub, or the pull request cannot be told.
        NothingToDoError: the review is old, or of a pull request that is closed.
    """
    repository = setting(environment, "GITHUB_REPOSITORY", _WHERE)
    event = _event(Path(setting(environment, "GITHUB_EVENT_PATH", _WHERE)))
    token = token_of(environment, _TOKEN_HINT)
    url = environment.get("GITHUB_API_URL") or "https://api.github.com"
    headers = {"Authorization": f"Bearer {token}", "Accept": "application/vnd.github+json"}
    api = Api(f"{url}/repos/{quote(repository)}", headers, _RIGHTS_HINT)
    try:
        if found := event.get("pull_request"):
            return PullRequest(f"pull request {found['number']}", False, api, int(found["number"]))
        return _reviewed(api, event["workflow_run"])
    except (KeyError, TypeError, ValueError):
        raise FleetError([Problem("the event is not one of a pull request", hint=f"this is for {_WHERE}")]) from None


def _event(path: Path) -> Mapping[str, Any]:
    try:
        event = read_json(read_regular(path))
    except (OSError, UnreadableError) as error:
        why = error.strerror if isinstance(error, OSError) else error.what
        raise FleetError([Problem(f"the event cannot be read: {why}", file=str(path))]) from None
    return event if isinstance(event, dict) else {}


def _reviewed(api: Api, run: Mapping[str, Any]) -> PullRequest:
    """Return the pull request whose present head a run has reviewed. The event names none where the head is a fork.

    Raises:
        FleetError: several have that head.
        NothingToDoError: none has it.
    """
    head, commit = run["head_repository"], run["head_sha"]
    query = urlencode({"state": "open", "head": f"{head['owner']['login']}:{run['head_branch']}"})
    numbers = [
        one["number"]
        for one in api.pages(f"/pulls?{query}")
        if one["head"]["sha"] == commit and (one["head"]["repo"] or {}).get("full_name") == head["full_name"]
    ]
    if not numbers:
        raise NothingToDoError(f"no open pull request has {commit[:7]} as its head: it is closed, or has moved on")
    if len(numbers) > 1:
        what = f"{commit[:7]} is the head of the pull requests {', '.join(map(str, numbers))}"
        raise FleetError([Problem(what, hint="one branch, one pull request: the artifacts hold the reviews")])
    stranger = head["full_name"] != run["repository"]["full_name"]
    return PullRequest(f"pull request {numbers[0]}", stranger, api, int(numbers[0]))
