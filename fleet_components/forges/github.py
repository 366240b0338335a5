"""Pull requests on GitHub. A run of a fork has no right to comment: a second one, after it, has,
and runs nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

import attrs

from fleet_components.content.guarded import UnreadableError, read_json
from fleet_components.content.paths import read_regular
from fleet_components.forges.api import Api, identity, part
from fleet_components.forges.forge import ChangeRequest, NothingToDoError, setting, token_of
from fleet_components.model.message import Message
from fleet_components.model.problem import FleetError, Problem

AUTHOR = "FLEET_COMMENT_AUTHOR"
"""Environment variable of the name of the token's own user, where it is not that of the
workflow.
"""
_ACTIONS = "github-actions[bot]"
_WHERE = "a workflow of GitHub, on pull_request or workflow_run"
_TOKEN_HINT = "env: {FLEET_COMMENT_TOKEN: ${{ github.token }}} in the step"
_RIGHTS_HINT = "the workflow needs permissions: {pull-requests: write}"


@attrs.frozen
class PullRequest(ChangeRequest):
    """A pull request.

    Attributes:
        api: the API of its repository.
        number: its number.
        author: the name of the token's own user.
    """

    api: Api
    number: str
    author: str

    def find(self, marker: str) -> str:
        """Return the ID of a comment of the token's own user; another bot may repeat what a
        stranger has written.
        """
        for page in self.api.pages(f"/issues/{self.number}/comments"):
            if (
                str(page.get("body")).startswith(marker)
                and part(page, "user", "login") == self.author
            ):
                return identity(page, "id")
        return ""

    def post(self, text: str) -> None:
        """Post a comment."""
        self.api.ask("POST", f"/issues/{self.number}/comments", {"body": text})

    def update(self, comment: str, text: str) -> None:
        """Update a comment."""
        self.api.ask("PATCH", f"/issues/comments/{comment}", {"body": text})


def pull_request(environment: Mapping[str, str]) -> PullRequest:
    """Return the pull request that a run is about, from its event and from the API; never from the
    run's artifact.

    Raises:
        FleetError: it is no run of GitHub, or the pull request cannot be determined.
        NothingToDoError: the review is old, or of a pull request that is closed.
    """
    repository = setting(environment, "GITHUB_REPOSITORY", _WHERE)
    event = _event(Path(setting(environment, "GITHUB_EVENT_PATH", _WHERE)))
    token = token_of(environment, _TOKEN_HINT)
    # GitHub Enterprise has an address of its own.
    url = environment.get("GITHUB_API_URL") or "https://api.github.com"
    headers = {"Authorization": f"Bearer {token}", "Accept": "application/vnd.github+json"}
    api = Api(f"{url}/repos/{quote(repository)}", headers, _RIGHTS_HINT)
    author = environment.get(AUTHOR) or _ACTIONS
    # Events of pull_request have the number; those of workflow_run need a request.
    number = part(event, "pull_request", "number")
    if isinstance(number, int):
        return PullRequest(f"pull request {number}", False, api, str(number), author)
    return _reviewed(api, _Run.of(event), author)


def _event(path: Path) -> Mapping[str, Any]:
    try:
        event = read_json(read_regular(path))
    except (OSError, UnreadableError) as error:
        why = error.strerror if isinstance(error, OSError) else error.message
        raise FleetError(
            [
                Problem(
                    Message("event-cannot-read", "the event cannot be read: {why}", why=why),
                    file=str(path),
                )
            ]
        ) from None
    return event if isinstance(event, dict) else {}


@attrs.frozen
class _Run:
    """Run of the workflow that has made a review, as the event describes it."""

    owner: str
    repository: str
    branch: str
    commit: str
    target: str

    @classmethod
    def of(cls, event: Mapping[str, Any]) -> _Run:
        """Return the run.

        Raises:
            FleetError: the event describes none.
        """
        paths = (
            ("head_repository", "owner", "login"),
            ("head_repository", "full_name"),
            ("head_branch",),
            ("head_sha",),
            ("repository", "full_name"),
        )
        found = [part(event, "workflow_run", *path) for path in paths]
        if not all(isinstance(text, str) and text for text in found):
            raise FleetError(
                [
                    Problem(
                        Message("event-not-one-pull", "the event is not one of a pull request"),
                        hint=f"this is for {_WHERE}",
                    )
                ]
            )
        return cls(*found)


def _reviewed(api: Api, run: _Run, author: str) -> PullRequest:
    """Return the pull request whose present head a run has reviewed. The event names none where the
    head is a fork.

    Raises:
        FleetError: several have that head.
        NothingToDoError: none has it.
    """
    query = urlencode({"state": "open", "head": f"{run.owner}:{run.branch}"})
    heads = ((page, part(page, "head")) for page in api.pages(f"/pulls?{query}"))
    numbers = [
        identity(data, "number")
        for data, head in heads
        if (part(head, "sha"), part(head, "repo", "full_name")) == (run.commit, run.repository)
    ]
    if not numbers:
        raise NothingToDoError(
            f"no open pull request has {run.commit[:7]} as its head: it is closed, or has moved on"
        )
    if len(numbers) > 1:
        what = Message(
            "head-pull-requests",
            "{commit} is the head of the pull requests {numbers}",
            commit=run.commit[:7],
            numbers=", ".join(numbers),
        )
        raise FleetError(
            [Problem(what, hint="one branch, one pull request: the artifacts hold the reviews")]
        )
    return PullRequest(
        f"pull request {numbers[0]}", run.repository != run.target, api, numbers[0], author
    )
