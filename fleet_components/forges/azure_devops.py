"""Pull requests on Azure DevOps. The build of a fork has no rights to comment with."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import quote

import attrs

from fleet_components.forges.api import Api, identity, part
from fleet_components.forges.forge import ChangeRequest, NothingToDoError, setting, token_of

_WHERE = "a pipeline of Azure DevOps that a pull request has started"
_TOKEN_HINT = "env: {FLEET_COMMENT_TOKEN: $(System.AccessToken)} in the step"
_RIGHTS_HINT = 'the build service needs "Contribute to pull requests" in the repository'
_VERSION = "api-version=7.1"


@attrs.frozen
class AzurePullRequest(ChangeRequest):
    """A pull request, on which a comment is the first of a thread.

    Attributes:
        api: the API of its organization.
        path: the path of its threads.
    """

    api: Api
    path: str

    def find(self, marker: str) -> str:
        """Return the path of a comment of the build's own user."""
        me = identity(self.api.map("/_apis/connectionData"), "authenticatedUser", "id")
        for thread in self.api.list(f"{self.path}?{_VERSION}"):
            comments = thread.get("comments")
            first = comments[0] if isinstance(comments, list) and comments else None
            if str(part(first, "content")).startswith(marker) and part(first, "author", "id") == me:
                return f"{identity(thread, 'id')}/comments/{identity(first, 'id')}"
        return ""

    def post(self, text: str) -> None:
        """Post a comment as a new thread."""
        first = {"parentCommentId": 0, "content": text, "commentType": "text"}
        self.api.ask("POST", f"{self.path}?{_VERSION}", {"comments": [first], "status": "active"})

    def update(self, comment: str, text: str) -> None:
        """Update a comment; its thread stays open or resolved."""
        self.api.ask("PATCH", f"{self.path}/{comment}?{_VERSION}", {"content": text})


def pull_request(environment: Mapping[str, str]) -> AzurePullRequest:
    """Return the pull request that a build is about.

    Raises:
        FleetError: it is no build of a pull request, or there is no token.
        NothingToDoError: it is the build of a fork.
    """
    if environment.get("SYSTEM_PULLREQUEST_ISFORK", "").lower() == "true":
        raise NothingToDoError(
            "the pull request comes from a fork, whose build has no right to comment"
        )
    organization = setting(environment, "SYSTEM_COLLECTIONURI", _WHERE).rstrip("/")
    project = quote(setting(environment, "SYSTEM_TEAMPROJECTID", _WHERE), safe="")
    repository = quote(setting(environment, "BUILD_REPOSITORY_ID", _WHERE), safe="")
    number = setting(environment, "SYSTEM_PULLREQUEST_PULLREQUESTID", _WHERE)
    headers = {"Authorization": f"Bearer {token_of(environment, _TOKEN_HINT)}"}
    requests = f"/{project}/_apis/git/repositories/{repository}/pullRequests"
    path = f"{requests}/{quote(number, safe='')}/threads"
    return AzurePullRequest(
        f"pull request {number}", False, Api(organization, headers, _RIGHTS_HINT), path
    )
