"""The settings of a render that clusters pull: which tool, from which repository, and who reads
which folder.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping
from typing import Any

import attrs

from fleet_components.model.codec import MisfitError, choice_of, decode, encode
from fleet_components.model.message import Message
from fleet_components.model.problem import FleetError, Problem

ARGOCD, FLUX = "argocd", "flux"
HUB, PULL = "hub", "pull"
TOOLS, TOPOLOGIES = (ARGOCD, FLUX), (HUB, PULL)
_REPOSITORY = re.compile(r"(https?|ssh)://[^\s@/]*@?[^\s@]+")
_SOURCE = re.compile(r"((GitRepository|OCIRepository|Bucket)/)?[a-z0-9]([a-z0-9.-]*[a-z0-9])?")
_PASSWORD = re.compile(r"://[^/@\s]*:[^/@\s]*@")
_LABEL = 63
"""Longest value of a label. Both tools label or track objects with the name of what has brought
them.
"""


@attrs.frozen(kw_only=True)
class GitopsSettings:
    """Settings that are remembered from one render to the next.

    Attributes:
        tool: ``argocd`` or ``flux``.
        topology: ``hub``, where one controller brings everything to all members, or ``pull``, where
            the controller of each member reads the folder of that member.
        repo: URL of the repository; empty where ``source`` names an object that has it.
        revision: branch, ``refs/...`` or commit that is read.
        path: folder of the stack in the repository, without a slash at either end.
        namespace: namespace of the objects for the tool; empty for the one that it is usually
            installed in.
        source: existing source of Flux, as ``KIND/NAME``; empty to make one of ``repo``.
        destinations: how the hub calls members that it does not call by their name.
        pattern: how the hub calls all other members, with ``{member}`` for the name.
        omit_secrets: True to leave out Secrets, which something else brings.
    """

    tool: str = attrs.field(metadata=choice_of(*TOOLS))
    topology: str = attrs.field(default=HUB, metadata=choice_of(*TOPOLOGIES))
    repo: str = ""
    revision: str = "main"
    path: str = ""
    namespace: str = ""
    source: str = ""
    destinations: Mapping[str, str] = attrs.field(factory=dict)
    pattern: str = "{member}"
    omit_secrets: bool = False

    @classmethod
    def of(cls, wire: Any, file: str) -> GitopsSettings:
        """Read the settings of the last render.

        Raises:
            FleetError: they are damaged.
        """
        try:
            return decode(cls, wire)
        except MisfitError as misfit:
            hint = "render anew with --fresh"
            raise FleetError(
                [attrs.evolve(problem, file=file, hint=hint) for problem in misfit.problems]
            ) from None

    def to_wire(self) -> Any:
        """Return the form in the state of a render."""
        return encode(self)

    def destination(self, member: str) -> str:
        """Return how the hub calls a member."""
        return self.destinations.get(member) or self.pattern.replace("{member}", member)

    def problems(self) -> Iterator[Problem]:
        """Yield what is wrong with them."""
        if not (self.repo or self.source):
            yield Problem(
                Message("no-repository-given", "no repository is given"),
                hint="--repo URL, from which the clusters pull what is rendered",
            )
        # Objects with the URL are committed to the repository.
        if _PASSWORD.search(self.repo):
            hint = "give it to the tool as a secret of its own, and the URL without it"
            yield Problem(
                Message(
                    "repo-password-everybody-could",
                    "--repo has a password in it, which everybody could read",
                ),
                hint=hint,
            )
        # Argo CD also takes the short form git@HOST:PATH.
        elif self.repo and not _REPOSITORY.fullmatch(self.repo) and self.tool == FLUX:
            hint = "write ssh://git@HOST/PATH in the place of git@HOST:PATH"
            yield Problem(
                Message(
                    "repo-no-url-flux",
                    "--repo is no URL that Flux takes: it begins with https:// or ssh://",
                ),
                hint=hint,
            )
        if self.source and self.tool != FLUX:
            yield Problem(
                Message("source-names-object-flux", "--source names an object of Flux"),
                hint="--repo URL",
            )
        if self.source and not _SOURCE.fullmatch(self.source):
            hint = "--source OCIRepository/fleet, or the name alone of a GitRepository"
            yield Problem(
                Message(
                    "source-not-kind-name",
                    "--source {source} is not [KIND/]NAME",
                    source=self.source,
                ),
                hint=hint,
            )
        if self.topology == PULL and (self.destinations or self.pattern != "{member}"):
            hint = "leave out --destination: each member reads its own folder"
            yield Problem(
                Message("members-destination-hub-only", "members have a destination on a hub only"),
                hint=hint,
            )
        if self.path.startswith("/") or ".." in self.path.split("/"):
            hint = "--path FOLDER, as it is called in the repository"
            yield Problem(
                Message(
                    "path-leads-out-repository",
                    "--path {path} leads out of the repository",
                    path=self.path,
                ),
                hint=hint,
            )


def name_of(*parts: str) -> str:
    """Return a name of an object from these parts, of at most 63 characters; a digest replaces what
    does not fit.
    """
    text = "-".join(filter(None, parts))
    name = re.sub(r"[^a-z0-9-]+", "-", text.lower()).strip("-")
    # A changed text could be equal to that of other parts, so it gets a digest.
    if name == text and len(name) <= _LABEL:
        return name
    digest = hashlib.sha256(text.encode()).hexdigest()[:8]
    return f"{name[: _LABEL - len(digest) - 1].rstrip('-')}-{digest}".lstrip("-")
