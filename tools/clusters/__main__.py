"""Builds the control plane, and starts and ends clusters of it::

    python -m tools.clusters build
    python -m tools.clusters up FOLDER NAME...
    python -m tools.clusters down FOLDER

``up`` leaves a cluster of each name running, with its kubeconfig in ``FOLDER/NAME/kubeconfig`` and
kubectl in ``FOLDER``. What was there when they were ended is there again. ``down`` ends all
clusters of a folder.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from pathlib import Path

from tools.clusters.binary import Binary, build
from tools.clusters.cluster import ControlPlane, start_all


def main() -> str | None:
    """Carry out the command line, and return what is wrong."""
    parser = argparse.ArgumentParser(prog="python -m tools.clusters", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("build")
    up = commands.add_parser("up")
    up.add_argument("folder", type=Path)
    up.add_argument("names", nargs="+", type=_name, metavar="NAME")
    commands.add_parser("down").add_argument("folder", type=Path)
    asked = parser.parse_args()
    try:
        if asked.command == "down":
            end(asked.folder)
        elif asked.command == "up":
            start(build(), asked.folder, asked.names)
        else:
            build()
    except (FileNotFoundError, RuntimeError) as error:
        return str(error)
    except subprocess.CalledProcessError:
        return "the control plane cannot be built"  # the compiler has said why
    return None


def _name(text: str) -> str:
    if not re.fullmatch("[a-z0-9]([a-z0-9-]*[a-z0-9])?", text):
        raise argparse.ArgumentTypeError(
            f"{text!r} is no name: give small letters, digits and - between them"
        )
    return text


def start(binary: Binary, folder: Path, names: list[str]) -> None:
    """Start clusters of these names, and say how they are reached."""
    planes = [ControlPlane.within(folder.resolve() / name, binary) for name in names]
    start_all(planes, outlives=True)
    link = folder / "kubectl"
    link.unlink(missing_ok=True)
    link.symlink_to(binary.kubectl)
    for name in names:
        sys.stdout.write(f"{link} --kubeconfig {folder / name / 'kubeconfig'}\n")


def end(folder: Path) -> None:
    """End all clusters of a folder."""
    for mark in sorted(folder.glob("*/pid")):
        plane = ControlPlane.within(mark.parent.resolve(), Binary(folder))
        if plane.running:
            plane.kill()
            sys.stdout.write(f"{mark.parent.name} has ended\n")


if __name__ == "__main__":
    sys.exit(main())
