"""Charts and kustomizations that objects of a source declare, with settings that a path alone
cannot express.

::

    apiVersion: fleet-components/v1
    kind: Chart
    metadata: {name: shop}              # the name of the release
    spec:
      path: charts/shop                 # this and valueFiles: below the folder of this file
      namespace: shop                   # default without it
      valueFiles: [production.yaml]     # in this order; the values below override them
      values: {replicas: 3}
      kubeVersion: "1.36"               # for .Capabilities; else the default of the installed helm
      apiVersions: [monitoring.coreos.com/v1]
    ---
    apiVersion: fleet-components/v1
    kind: Kustomization
    metadata: {name: shop}
    spec: {path: overlays/production}

Anybody who may change a source could make tools run on any file, so paths must not lead out of the
source.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import attrs

from fleet_components.content.build import Build
from fleet_components.content.catalogue import DEFAULT_NAMESPACE
from fleet_components.content.chart import Chart
from fleet_components.content.kustomization import Kustomization
from fleet_components.content.paths import confined
from fleet_components.model.codec import MisfitError
from fleet_components.model.manifest import Manifest
from fleet_components.model.message import Message, Phrase
from fleet_components.model.problem import FieldPath, Problem
from fleet_components.model.reader import API_VERSION, CHART, KUSTOMIZATION, read, stray_fields

_NAMESPACE = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")
_NOWHERE = Message("carried-out-only-file", "is carried out only where a file of a source says it")
_ELSEWHERE = "write it to a file: what a tool or a program has made names no tools to run"


@attrs.frozen(kw_only=True)
class _ChartSpec:
    path: str
    namespace: str = DEFAULT_NAMESPACE
    value_files: tuple[str, ...] = ()
    values: Mapping[str, Any] | None = None
    kube_version: str = ""
    api_versions: tuple[str, ...] = ()


@attrs.frozen(kw_only=True)
class _KustomizationSpec:
    path: str


_SPECS: Mapping[str, type] = {CHART: _ChartSpec, KUSTOMIZATION: _KustomizationSpec}


def names_a_build(manifest: Manifest) -> bool:
    """Return whether an object declares a chart or a kustomization."""
    return manifest.api_version == API_VERSION and manifest.kind in _SPECS


def misplaced(manifest: Manifest) -> Problem:
    """Return the problem for a declaration in a place where charts and kustomizations are not
    built.
    """
    return manifest.problem(_NOWHERE, ("kind",), _ELSEWHERE)


def read_build(manifest: Manifest, root: Path, problems: list[Problem]) -> Build | None:
    """Return the chart or kustomization that an object declares; None if it is invalid.

    Args:
        manifest: the object, read from a file.
        root: the directory that its paths must not lead out of.
        problems: problems are added here; if there are any, it must not be built.
    """
    problems += stray_fields(manifest)
    try:
        spec = read(_SPECS[manifest.kind], manifest.data.get("spec"))
    except MisfitError as misfit:
        problems += (manifest.located(problem, "spec") for problem in misfit.problems)
        return None
    paths = _Paths(manifest, root, problems)
    build = _chart(spec, paths) if manifest.kind == CHART else _kustomization(spec, paths)
    problems += build.problems() if build else ()
    return build


@attrs.frozen
class _Paths:
    """Resolves the paths of one declaration and collects their problems."""

    manifest: Manifest
    root: Path
    problems: list[Problem]

    def folder(self, written: str) -> Path | None:
        found = self._follow(written, ("path",))
        if found and not found.is_dir():
            self._refuse(
                Message("path-not-folder", '"{written}" is not a folder', written=written),
                ("path",),
                "name the folder",
            )
            return None
        return found

    def file(self, written: str, path: FieldPath) -> Path | None:
        found = self._follow(written, path)
        if found and not found.is_file():
            self._refuse(
                Message("not-file", '"{written}" is not a file', written=written),
                path,
                "name a file",
            )
            return None
        return found

    def _follow(self, written: str, path: FieldPath) -> Path | None:
        # Only objects that were read from a file get here: see read_build.
        assert self.manifest.origin
        found = confined(written, Path(self.manifest.origin.file).parent, self.root)
        if isinstance(found, Problem):
            self._refuse(found.message, path, found.advice)
            return None
        return found

    def _refuse(self, what: Message, path: FieldPath, hint: Phrase | str) -> None:
        self.problems.append(self.manifest.located(Problem(what, path, hint), "spec"))


def _chart(spec: _ChartSpec, paths: _Paths) -> Chart | None:
    if not _NAMESPACE.fullmatch(spec.namespace):
        what = Message(
            "not-name-namespace",
            '"{namespace}" is not a name of a namespace',
            namespace=spec.namespace,
        )
        problem = Problem(what, ("namespace",), "a to z, 0 to 9 and -, 63 of them at most")
        paths.problems.append(paths.manifest.located(problem, "spec"))
    folder = paths.folder(spec.path)
    # Before the folder is looked at, so that all wrong paths are reported at once.
    files = [
        paths.file(file, ("valueFiles", position)) for position, file in enumerate(spec.value_files)
    ]
    if folder is None:
        return None
    return Chart(
        folder=folder,
        root=paths.root,
        declared=paths.manifest,
        release=paths.manifest.name,
        namespace=spec.namespace,
        # A file that is missing here has a problem, which keeps the chart from being built.
        value_files=tuple(filter(None, files)),
        values=spec.values or {},
        kube_version=spec.kube_version,
        api_versions=spec.api_versions,
    )


def _kustomization(spec: _KustomizationSpec, paths: _Paths) -> Kustomization | None:
    folder = paths.folder(spec.path)
    return (
        None
        if folder is None
        else Kustomization(folder=folder, root=paths.root, declared=paths.manifest)
    )
