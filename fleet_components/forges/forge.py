"""Contract of the forges: on which pull request a run comments, and which comment is its own."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping

import attrs

from fleet_components.model.message import Message
from fleet_components.model.problem import FleetError, Problem

TOKEN = "FLEET_COMMENT_TOKEN"
"""Environment variable of the token, on every forge."""


class NothingToDoError(Exception):
    """A run that posts no comment, and is right not to. The message says why."""


@attrs.frozen
class ChangeRequest(ABC):
    """A pull request or a merge request.

    Attributes:
        name: what its forge calls it: ``pull request 7``.
        stranger: True if the review was made by a run that its author could have changed.
    """

    name: str
    stranger: bool

    @abstractmethod
    def find(self, marker: str) -> str:
        """Return the ID of this tool's own comment that begins with the marker; empty if there is
        none.
        """

    @abstractmethod
    def post(self, text: str) -> None:
        """Post a new comment."""

    @abstractmethod
    def update(self, comment: str, text: str) -> None:
        """Give a comment another text."""


def setting(environment: Mapping[str, str], name: str, where: str) -> str:
    """Return a variable that the forge sets.

    Raises:
        FleetError: it is not set, so this is another place.
    """
    value = environment.get(name)
    if value:
        return value
    raise FleetError(
        [
            Problem(
                Message("not-set", "{name} is not set", name=name),
                hint=f"this command runs in {where}",
            )
        ]
    )


def token_of(environment: Mapping[str, str], hint: str) -> str:
    """Return the token.

    Raises:
        FleetError: there is none.
    """
    value = environment.get(TOKEN)
    if value:
        return value
    raise FleetError(
        [
            Problem(
                Message(
                    "not-set-nothing-can",
                    "{token} is not set, so nothing can be posted",
                    token=TOKEN,
                ),
                hint=hint,
            )
        ]
    )
