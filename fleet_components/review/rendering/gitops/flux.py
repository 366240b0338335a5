"""Flux: a Kustomization per phase of a member, each waiting for the one before; on a hub also for
members before.

Source: fluxcd/kustomize-controller v1.9.4, docs/spec/v1/kustomizations.md and checkDependencies of
internal/controller/kustomization_controller.go: a dependency counts once it is ready at the same
revision.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from fleet_components.plan.waves import Brought
from fleet_components.review.rendering.gitops.contract import (
    GitopsTool,
    LeftAlone,
    Object,
    Tree,
    named,
)
from fleet_components.review.rendering.gitops.settings import HUB, GitopsSettings, name_of
from fleet_components.review.rendering.manifests import PHASES

_KUSTOMIZATION = ("kustomize.toolkit.fluxcd.io/v1", "Kustomization")
_REPOSITORY = ("source.toolkit.fluxcd.io/v1", "GitRepository")
_PRUNE = "kustomize.toolkit.fluxcd.io/prune"
_TIMES = {"interval": "10m0s", "retryInterval": "1m0s", "timeout": "10m0s"}
"""A timeout as long as ``fleet:readyTimeout`` is by default."""
_COMMIT = re.compile(r"[0-9a-f]{40}")


class Flux(GitopsTool):
    """Flux."""

    NAME = "Flux"
    NAMESPACE = "flux-system"

    def marks(self, brought: Brought, phase: int) -> Mapping[str, str]:
        """Return the annotation against pruning; the folder of an object tells its phase."""
        return {_PRUNE: "disabled"} if brought.outlives or brought.protected else {}

    def hub(self, tree: Tree) -> Iterator[tuple[str, list[Object]]]:
        """Yield the Kustomizations of each member; those of a step wait for the members of the step
        before.
        """
        before: list[str] = []
        first: dict[str, list[str]] = {}
        for step in tree.steps:
            members = [member for member in step if tree.phases.get(member)]
            first |= dict.fromkeys(members, before)
            before = [_name(tree, member, tree.phases[member][-1]) for member in members] or before
        for member in sorted(tree.phases):
            secret = tree.settings.destination(member)
            yield f"{member}.yaml", list(self._phases(tree, member, first.get(member, []), secret))

    def pulling(self, tree: Tree, member: str) -> Iterator[tuple[str, list[Object]]]:
        """Yield the Kustomizations of a member."""
        yield "kustomizations.yaml", list(self._phases(tree, member, []))

    def start(self, tree: Tree, folder: str) -> list[Object]:
        """Return the Kustomization that brings those of a folder, and the source unless there is
        one.
        """
        found = named(tree, _KUSTOMIZATION, tree.root, self)
        found["spec"] = {
            **_TIMES,
            "path": f"./{tree.path(folder)}",
            "prune": True,
            "wait": False,  # those that it brings wait for it
            "sourceRef": _source(tree),
        }
        if tree.settings.source:
            return [found]
        repository = named(tree, _REPOSITORY, tree.root, self)
        reference = _reference(tree.settings.revision)
        repository["spec"] = {"interval": "1m0s", "url": tree.settings.repo, "ref": reference}
        return [repository, found]

    def needs(self, settings: GitopsSettings) -> str:
        """Return which secrets lead to the members."""
        if settings.topology != HUB:
            return ""
        names = settings.pattern.replace("{member}", "MEMBER")
        return (
            f"Flux needs a Secret {names} for each member, with its kubeconfig under the key value"
        )

    def mends(self, settings: GitopsSettings) -> bool:
        """Return that it does, on every interval."""
        return True

    def _phases(
        self, tree: Tree, member: str, first: list[str], secret: str = ""
    ) -> Iterator[Object]:
        """Yield a Kustomization for each phase of a member; the first one waits for these as
        well.
        """
        # The root comes first, so that an order of an earlier commit is not followed with the
        # manifests of this one.
        before = [tree.root, *first]
        for phase in tree.phases[member]:
            found = named(tree, _KUSTOMIZATION, _name(tree, member, phase), self, member=member)
            left_alone = tree.left_alone.get((member, phase), ())
            found["spec"] = {
                **_TIMES,
                "path": f"./{tree.member_path(member, phase)}",
                "prune": True,
                "wait": True,
                "sourceRef": _source(tree),
                "dependsOn": [{"name": name} for name in before],
                **({"kubeConfig": {"secretRef": {"name": secret}}} if secret else {}),
                **({"ignore": [_ignored(left) for left in left_alone]} if left_alone else {}),
            }
            yield found
            before = [found["metadata"]["name"]]


def _name(tree: Tree, member: str, phase: int) -> str:
    return name_of(tree.stack, member, PHASES[phase].partition("-")[2])


def _source(tree: Tree) -> dict[str, str]:
    kind, _, name = tree.settings.source.rpartition("/")
    return {"kind": kind or _REPOSITORY[1], "name": name or tree.root}


def _reference(revision: str) -> dict[str, str]:
    if _COMMIT.fullmatch(revision):
        return {"commit": revision}
    return {"name": revision} if revision.startswith("refs/") else {"branch": revision}


def _ignored(left_alone: LeftAlone) -> dict[str, Any]:
    key = left_alone.key
    found = {"group": key.group, "kind": key.kind, "name": key.name, "namespace": key.namespace}
    # The fields are regular expressions, matched as a whole.
    return {
        "paths": left_alone.pointers,
        "target": {field: re.escape(value) for field, value in found.items() if value},
    }
