"""Finds the definitions of the objects that Argo CD and Flux read, for tests: those of the versions
named here.

They are files of the tools' own Go modules, which Go fetches and keeps; nothing of them is in this
repository. ``FLEET_GITOPS_CRDS`` names a folder with the same files, in which they may lie as they
like.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import attrs

from fleet_components.content.guarded import read_json

GIVEN = "FLEET_GITOPS_CRDS"


@attrs.frozen
class Module:
    """A Go module with definitions.

    Attributes:
        path: the module and its version.
        folder: the folder of the definitions in it.
        files: their names.
    """

    path: str
    folder: str
    files: tuple[str, ...]


MODULES = (
    Module(
        "github.com/argoproj/argo-cd/v3@v3.5.1",
        "manifests/crds",
        ("application-crd.yaml", "applicationset-crd.yaml", "appproject-crd.yaml"),
    ),
    Module(
        "github.com/fluxcd/kustomize-controller@v1.9.4",
        "config/crd/bases",
        ("kustomize.toolkit.fluxcd.io_kustomizations.yaml",),
    ),
    Module(
        "github.com/fluxcd/source-controller@v1.9.1",
        "config/crd/bases",
        (
            "source.toolkit.fluxcd.io_gitrepositories.yaml",
            "source.toolkit.fluxcd.io_ocirepositories.yaml",
        ),
    ),
)


def definitions() -> Iterator[Path]:
    """Yield the files.

    Raises:
        LookupError: they are not to be had here; says why.
    """
    if given := os.environ.get(GIVEN):
        yield from sorted(Path(given).glob("*.yaml"))
        return
    if shutil.which("go") is None:
        raise LookupError(
            f"needs Go on PATH to fetch the definitions of Argo CD and Flux, or a folder in {GIVEN}"
        )
    for module in MODULES:
        folder = _fetched(module) / module.folder
        yield from (folder / name for name in module.files)


def _fetched(module: Module) -> Path:
    """Return the folder of a module, which Go fetches unless it has it.

    Raises:
        LookupError: it cannot be fetched.
    """
    with tempfile.TemporaryDirectory() as empty:
        command = ["go", "mod", "download", "-json", module.path]
        done = subprocess.run(command, cwd=empty, check=False, capture_output=True, timeout=600)
    told = read_json(done.stdout or b"{}")
    if done.returncode or "Dir" not in told:
        raise LookupError(
            f"needs {module.path}, which Go cannot fetch; or a folder with its definitions in"
            f" {GIVEN}"
        )
    return Path(told["Dir"])
