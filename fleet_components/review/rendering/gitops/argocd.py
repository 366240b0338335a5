"""Argo CD: an Application per member, and an ApplicationSet that syncs the members of a hub step by
step.

Source: argoproj/argo-cd v3.5.1: docs/operator-manual/applicationset/Progressive-Syncs.md,
sync-options.md and sync-waves.md of docs/user-guide,
applicationset/progressivesync/progressive_sync.go.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from fleet_components.model.manifest import Manifest
from fleet_components.plan.waves import Brought
from fleet_components.review.rendering.gitops.contract import (
    MARK,
    GitopsTool,
    LeftAlone,
    Object,
    Tree,
    named,
)
from fleet_components.review.rendering.gitops.settings import HUB, GitopsSettings, name_of
from fleet_components.review.rendering.manifests import PHASES

_VERSION = "argoproj.io/v1alpha1"
_PREFIX = "argocd.argoproj.io"
_HERE = "https://kubernetes.default.svc"
"""Address of the cluster that Argo CD runs on."""
_STEP = f"{MARK}/step"
_REST = "0"
"""Step of the members that do not move. It comes last, so that nothing waits for their health."""
_OPTIONS = ("ServerSideApply=true", "PruneLast=true")
_RETRY = {
    "limit": 5,
    "refresh": True,
    "backoff": {"duration": "10s", "factor": 2, "maxDuration": "3m"},
}
"""A retry takes the latest commit, which may be the one that fixes what failed."""
_CLAIM = "PersistentVolumeClaim"
_WORKLOADS = PHASES.index("4-workloads")


class ArgoCD(GitopsTool):
    """Argo CD."""

    NAME = "Argo CD"
    NAMESPACE = "argocd"

    def marks(self, brought: Brought, phase: int) -> Mapping[str, str]:
        """Return the sync wave of the phase, and the options against pruning."""
        manifest = Manifest(brought.data)
        annotations = manifest.metadata.get("annotations") or {}
        # A sync wave ends when claims are bound, also with ignore-healthcheck, and some are only
        # bound for a pod.
        wave = _WORKLOADS if (manifest.group, manifest.kind) == ("", _CLAIM) else phase
        given = [
            part.strip() for part in str(annotations.get(f"{_PREFIX}/sync-options", "")).split(",")
        ]
        marks = {f"{_PREFIX}/sync-wave": str(wave)}
        if brought.outlives or brought.protected:
            kept = "false" if brought.outlives else "confirm"
            options = [
                text for text in given if text.partition("=")[0] not in ("", "Prune", "Delete")
            ]
            marks[f"{_PREFIX}/sync-options"] = ",".join(
                [*options, f"Prune={kept}", f"Delete={kept}"]
            )
        if brought.outlives:
            # Else what is kept would leave the Application out of sync for ever.
            marks[f"{_PREFIX}/compare-options"] = "IgnoreExtraneous"
        if annotations.get("pulumi.com/skipAwait") == "true":
            marks[f"{_PREFIX}/ignore-healthcheck"] = "true"
        return marks

    def hub(self, tree: Tree) -> Iterator[tuple[str, list[Object]]]:
        """Yield the project, the step of each member, and the ApplicationSet that makes an
        Application for each.

        The steps are in files that the ApplicationSet reads from the repository. Written into it,
        they would come with
        a sync: members that see the commit before that would begin in the order of the one before.
        """
        yield (
            "project.yaml",
            [self._project(tree, [_destination(tree, member) for member in tree.phases])],
        )
        step_of = {
            member: str(number) for number, step in enumerate(tree.steps, 1) for member in step
        }
        for member in tree.phases:
            element = {
                "member": member,
                "name": name_of(tree.stack, member),
                "cluster": "",
                "server": "",
                **_destination(tree, member, name="cluster"),
                "step": step_of.get(member, _REST),
            }
            yield f"members/{member}.yaml", [element]
        # A step without members would count as a mistake of the configuration.
        numbers = {step_of.get(member, _REST) for member in tree.phases} or {_REST}
        # Steps are synced in this order: those that do not move come last.
        ordered = sorted(numbers, key=lambda number: (number == _REST, int(number)))
        template = {
            "metadata": {
                "name": "{{.name}}",
                "labels": {f"{MARK}/stack": name_of(tree.stack), _STEP: "{{.step}}"},
                "annotations": {f"{MARK}/member": "{{.member}}"},
            },
            "spec": self._spec(
                tree, tree.member_path("{{.member}}"), list(tree.phases), heals=False
            ),
        }
        template["spec"]["destination"] = {"name": "{{.cluster}}", "server": "{{.server}}"}
        steps = [
            {"matchExpressions": [{"key": _STEP, "operator": "In", "values": [number]}]}
            for number in ordered
        ]
        found = named(tree, (_VERSION, "ApplicationSet"), tree.root, self)
        read = {"repoURL": tree.settings.repo, "revision": tree.settings.revision}
        found["spec"] = {
            "goTemplate": True,
            "goTemplateOptions": ["missingkey=error"],
            "generators": [
                {"git": {**read, "files": [{"path": tree.path("hub", "members", "*.yaml")}]}}
            ],
            "strategy": {"type": "RollingSync", "rollingSync": {"steps": steps}},
            # Deleting the ApplicationSet leaves what runs on the members.
            "syncPolicy": {"preserveResourcesOnDeletion": True},
            "template": template,
        }
        yield "applicationset.yaml", [found]

    def pulling(self, tree: Tree, member: str) -> Iterator[tuple[str, list[Object]]]:
        """Yield the project and the Application of a member."""
        yield "project.yaml", [self._project(tree, [{"server": _HERE}])]
        found = named(
            tree, (_VERSION, "Application"), name_of(tree.stack, member), self, member=member
        )
        found["spec"] = self._spec(tree, tree.member_path(member), [member], heals=True)
        found["spec"]["destination"] = {"server": _HERE}
        yield "application.yaml", [found]

    def start(self, tree: Tree, folder: str) -> list[Object]:
        """Return the Application that brings the objects of a folder."""
        found = named(tree, (_VERSION, "Application"), tree.root, self)
        found["spec"] = {
            "project": "default",
            "source": _source(tree, tree.path(folder)),
            "destination": {
                "server": _HERE,
                "namespace": tree.settings.namespace or self.NAMESPACE,
            },
            "syncPolicy": {"automated": {"prune": True, "selfHeal": True}, "retry": _RETRY},
        }
        return [found]

    def needs(self, settings: GitopsSettings) -> str:
        """Return the setting without which all members are synced at once."""
        if settings.topology != HUB:
            return ""
        return (
            "the ApplicationSet controller needs --enable-progressive-syncs: without it, it ignores"
            " the steps and syncs all members at once"
        )

    def mixes(self, settings: GitopsSettings) -> str:
        """Return what a running controller did: members count as ready until their own Applications
        see the commit.
        """
        on_hub = "a member whose Application sees it before those of earlier waves begins at once"
        return super().mixes(settings) or on_hub

    def mends(self, settings: GitopsSettings) -> bool:
        """Return whether Applications heal themselves, which RollingSync turns off."""
        return settings.topology != HUB

    def _project(self, tree: Tree, destinations: list[dict[str, str]]) -> Object:
        found = named(tree, (_VERSION, "AppProject"), tree.root, self)
        # Before the Applications, which name the project.
        found["metadata"]["annotations"] = {f"{_PREFIX}/sync-wave": "-1"}
        found["spec"] = {
            "description": f"What fleet render has written for the stack {tree.stack}",
            "sourceRepos": [tree.settings.repo],
            "destinations": [{**destination, "namespace": "*"} for destination in destinations],
            "clusterResourceWhitelist": [{"group": "*", "kind": "*"}],
        }
        return found

    def _spec(self, tree: Tree, path: str, members: list[str], *, heals: bool) -> dict[str, Any]:
        left_alone = {
            left.key: left
            for (member, _), found in sorted(tree.left_alone.items())
            if member in members
            for left in found
        }
        # RollingSync turns automatic syncs off, and with them selfHeal.
        automated = {"prune": True, **({"selfHeal": True, "allowEmpty": True} if heals else {})}
        ignored = ("RespectIgnoreDifferences=true",) if left_alone else ()
        return {
            "project": tree.root,
            "source": {**_source(tree, path), "directory": {"recurse": True}},
            "syncPolicy": {
                "automated": automated,
                "syncOptions": [*_OPTIONS, *ignored],
                "retry": _RETRY,
            },
            **(
                {"ignoreDifferences": [_ignored(left) for left in left_alone.values()]}
                if left_alone
                else {}
            ),
        }


def _source(tree: Tree, path: str) -> dict[str, Any]:
    return {"repoURL": tree.settings.repo, "targetRevision": tree.settings.revision, "path": path}


def _destination(tree: Tree, member: str, name: str = "name") -> dict[str, str]:
    """Return where a member is: by the name of its cluster, or by its address."""
    called = tree.settings.destination(member)
    # Argo CD finds a cluster by its address or by its name.
    return {"server" if "://" in called else name: called}


def _ignored(left_alone: LeftAlone) -> dict[str, Any]:
    key = left_alone.key
    found = {"group": key.group, "kind": key.kind, "name": key.name, "namespace": key.namespace}
    return {
        **{field: value for field, value in found.items() if value},
        "jsonPointers": left_alone.pointers,
    }
