"""Merge requests on GitLab. The pipeline of a fork runs in the fork, without the token of the
project.
"""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import quote

import attrs

from fleet_components.forges.api import Api, identity, part
from fleet_components.forges.forge import TOKEN, ChangeRequest, NothingToDoError, setting, token_of

_WHERE = "a merge request pipeline of GitLab"
_TOKEN_HINT = "a masked, unprotected variable with a project access token: role Reporter, scope api"
_RIGHTS_HINT = f"{TOKEN} needs the scope api, and the role Reporter in the project"


@attrs.frozen
class MergeRequest(ChangeRequest):
    """A merge request.

    Attributes:
        api: the API of its forge.
        path: its path there.
    """

    api: Api
    path: str

    def find(self, marker: str) -> str:
        """Return the ID of a note of the token's own user."""
        me = identity(self.api.map("/user"), "id")
        for page in self.api.pages(f"{self.path}/notes"):
            # Answers have IDs as numbers, ``identity`` returns texts.
            if str(page.get("body")).startswith(marker) and str(part(page, "author", "id")) == me:
                return identity(page, "id")
        return ""

    def post(self, text: str) -> None:
        """Post a note."""
        self.api.ask("POST", f"{self.path}/notes", {"body": text})

    def update(self, comment: str, text: str) -> None:
        """Update a note."""
        self.api.ask("PUT", f"{self.path}/notes/{comment}", {"body": text})


def merge_request(environment: Mapping[str, str]) -> MergeRequest:
    """Return the merge request that a pipeline is about.

    Raises:
        FleetError: it is no pipeline of a merge request, or a token is missing that should be
            there.
        NothingToDoError: it is the pipeline of a fork.
    """
    project = setting(environment, "CI_MERGE_REQUEST_PROJECT_ID", _WHERE)
    number = setting(environment, "CI_MERGE_REQUEST_IID", _WHERE)
    fork = setting(environment, "CI_MERGE_REQUEST_SOURCE_PROJECT_ID", _WHERE) != project
    if fork and not environment.get(TOKEN):
        raise NothingToDoError("the merge request comes from a fork, whose pipeline has no token")
    headers = {"PRIVATE-TOKEN": token_of(environment, _TOKEN_HINT)}
    api = Api(setting(environment, "CI_API_V4_URL", _WHERE), headers, _RIGHTS_HINT)
    path = f"/projects/{quote(project, safe='')}/merge_requests/{quote(number, safe='')}"
    return MergeRequest(f"merge request {number}", fork, api, path)
