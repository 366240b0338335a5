"""The comment of a review: its text, and where it goes."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable, Mapping
from pathlib import Path

from fleet_components.forges import azure_devops, github, gitlab
from fleet_components.forges.commands import disarmed
from fleet_components.forges.forge import ChangeRequest
from fleet_components.model.message import Message
from fleet_components.model.problem import FleetError, Problem
from fleet_components.model.text import visible

FORGES: Mapping[str, Callable[[Mapping[str, str]], ChangeRequest]] = {
    "github": github.pull_request,
    "gitlab": gitlab.merge_request,
    "azure-devops": azure_devops.pull_request,
}
"""Function that finds the pull request of a run in its environment, by forge."""
REVIEW, ERRORS = "review.md", "errors.txt"
"""Files of a review: what ``fleet review -o markdown`` prints, and what it says besides."""
# Less than MOST, because the marker and the marks of a quotation are added.
LIMIT = 65_000
"""Largest number of characters of a comment; GitHub cuts comments at 65,536."""
_LARGEST = 4 * LIMIT  # of a character in UTF-8
_STRANGER = (
    "> This text comes from a run whose code the author of the pull request can change. Believe it"
    " as far as you believe them.\n\n"
)
MOST = 65_536
"""Largest number of characters that GitHub takes."""


def publish(request: ChangeRequest, text: str, about: str) -> str:
    """Post the comment or update the one that is there, and return what was done.

    Args:
        request: the pull request.
        text: the comment.
        about: tells the comments of several fleets apart.

    Raises:
        FleetError: the forge refuses.
    """
    # A comment of HTML, which readers do not see.
    marker = f"<!-- fleet-review {about} -->"
    text = f"{marker}\n{_STRANGER}{_quoted(text)}" if request.stranger else f"{marker}\n{text}"
    if len(text) > MOST:
        raise FleetError(
            [
                Problem(
                    Message(
                        "characters-quotation-comment-takes",
                        "has {text:,} characters as a quotation, and a comment takes {most:,}",
                        text=len(text),
                        most=MOST,
                    )
                )
            ]
        )
    there = request.find(marker)
    if there:
        request.update(there, text)
    else:
        request.post(text)
    return f"{'updated the' if there else 'posted a'} comment on {request.name}"


def comment_text(folder: Path) -> str:
    """Return the comment for a review: its Markdown, or the errors where there is none.

    Raises:
        FleetError: the folder holds no review, or one that no comment can hold. Its files may be a
            stranger's: a link among them could lead to any other file.
    """
    text = _read(folder / REVIEW)
    if not text.strip():
        text = _errors(_read(folder / ERRORS))
    # One kind of line end: a bot may take others for one as well.
    text = "".join(f"{line}\n" for line in text.splitlines())
    text = disarmed(text)
    if len(text) > LIMIT:
        what = Message(
            "characters-comment-takes",
            "has {text:,} characters, and a comment takes {limit:,}",
            text=len(text),
            limit=LIMIT,
        )
        raise FleetError(
            [
                Problem(
                    what, file=str(folder / REVIEW), hint="write it with fleet review -o markdown"
                )
            ]
        )
    return text


def _quoted(text: str) -> str:
    """Return a text as a quotation: none of its lines begins with a word that a bot takes for a
    command.
    """
    return "".join(f"> {line}".rstrip() + "\n" for line in text.splitlines())


def _errors(text: str) -> str:
    # Half of the limit, because ``disarmed`` may add a character in many places.
    shown = visible(text.strip(), lines=True)[: LIMIT // 2]
    if not shown:
        return "### Fleet review\n\nThe review has failed without a word: see the log of its run.\n"
    # A fence ends at one as long as it.
    fence = "`" * max(3, *(len(run) + 1 for run in re.findall("`+", shown) or [""]))
    return f"### Fleet review\n\nThe fleet cannot be planned:\n\n{fence}\n{shown}\n{fence}\n"


def _read(path: Path) -> str:
    try:
        # A link is refused, and a pipe does not block; Windows has neither of these flags.
        flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOFOLLOW", 0)
        with open(os.open(path, flags), "rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise OSError(None, "is not a regular file")
            content = file.read(_LARGEST + 1)
    except FileNotFoundError:
        return ""
    except OSError as error:
        raise FleetError(
            [
                Problem(
                    Message("cannot-read", "cannot be read: {strerror}", strerror=error.strerror),
                    file=str(path),
                )
            ]
        ) from None
    if len(content) > _LARGEST:
        raise FleetError(
            [
                Problem(
                    Message(
                        "larger-than-comment-may",
                        "is larger than a comment may be: {largest:,} bytes",
                        largest=_LARGEST,
                    ),
                    file=str(path),
                )
            ]
        )
    return content.decode(errors="replace")
