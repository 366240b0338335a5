"""Builds the control plane once, and keeps it by the hash of its sources."""

from __future__ import annotations

import fcntl
import hashlib
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import attrs

SOURCES = Path(__file__).parent / "controlplane"
NAME = "control-plane"
NO_GO = "needs Go 1.26 or newer on PATH, to build the control plane"
_VERSION = "k8s.io/component-base/version"


@attrs.frozen
class Binary:
    """A folder with ``control-plane`` and, as a link to it, ``kubectl``."""

    folder: Path

    @property
    def kubectl(self) -> Path:
        """kubectl of the same version."""
        return self.folder / "kubectl"


def built() -> Binary | None:
    """Return the control plane, if it has been built from these sources before."""
    kept = Binary(_cache() / _digest())
    return kept if kept.kubectl.exists() else None


def build() -> Binary:
    """Return the control plane, and build it before if that has not been done yet: it takes
    minutes.

    Raises:
        FileNotFoundError: Go is not on PATH.
        subprocess.CalledProcessError: it cannot be built; the compiler has said why on standard
        error.
    """
    cache = _cache()
    cache.mkdir(parents=True, exist_ok=True)
    with (cache / "lock").open("w") as lock:
        # Of two that want it at once, the second waits and finds it.
        fcntl.flock(lock, fcntl.LOCK_EX)
        if found := built():
            return found
        if shutil.which("go") is None:
            raise FileNotFoundError(NO_GO)
        sys.stderr.write("building the control plane, once: five to ten minutes on two cores\n")
        with tempfile.TemporaryDirectory(dir=cache) as unfinished:
            whole = Path(unfinished) / "whole"
            whole.mkdir()
            _compile(whole / NAME)
            (whole / "kubectl").symlink_to(NAME)
            whole.rename(cache / _digest())
    found = built()
    assert found is not None
    return found


def _compile(into: Path) -> None:
    kubernetes = _required("k8s.io/kubernetes")
    major, minor, _ = kubernetes.removeprefix("v").split(".")
    told = {  # a build from a checkout of theirs would have these of git
        f"{_VERSION}.gitVersion": kubernetes,
        f"{_VERSION}.gitMajor": major,
        f"{_VERSION}.gitMinor": minor,
        f"{_VERSION}.gitTreeState": "clean",
        "sigs.k8s.io/kwok/pkg/consts.Version": _required("sigs.k8s.io/kwok"),
    }
    linked = " ".join(["-s -w", *(f"-X {name}={value}" for name, value in told.items())])
    subprocess.run(
        ["go", "build", "-trimpath", "-buildvcs=false", "-ldflags", linked, "-o", str(into), "."],
        cwd=SOURCES,
        env={**os.environ, "CGO_ENABLED": "0"},
        check=True,
    )


def _required(module: str) -> str:
    found = re.search(
        rf"^\t{re.escape(module)} (v\S+)$", (SOURCES / "go.mod").read_text(), re.MULTILINE
    )
    assert found, module
    return found[1]


def _cache() -> Path:
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(home) / "fleet-components" / "control-planes"


def _digest() -> str:
    digest = hashlib.sha256(f"{sys.platform} {platform.machine()}".encode())
    for file in sorted(SOURCES.iterdir()):
        digest.update(f"{file.name}\n".encode() + file.read_bytes())
    return digest.hexdigest()[:20]
