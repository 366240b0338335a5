"""The wheel works outside the checkout, and the core without any extra."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[2]
CORE = """
import sys
for name in ("pulumi", "pulumi_kubernetes", "pulumi_azure_native", "click", "rich"):
    sys.modules[name] = None
import fleet_components
from fleet_components import Cluster, Inventory, PlacementPolicy, schedule
decision = schedule(Inventory([Cluster("a"), Cluster("b")]), PlacementPolicy("PickN", number_of_clusters=1))
print(fleet_components.__file__, *decision.memory.selected)
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("dist")
    command = [
        sys.executable,
        "-m",
        "build",
        "--wheel",
        "--no-isolation",
        "--outdir",
        str(out),
        str(REPOSITORY),
    ]
    subprocess.run(command, check=True, capture_output=True)
    (built,) = out.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("site")
    command = [
        sys.executable,
        "-m",
        "pip",
        "install",
        "--quiet",
        "--no-deps",
        "--no-index",
        "--target",
        str(target),
    ]
    subprocess.run([*command, str(wheel)], check=True, capture_output=True)
    return target


def run(installed: Path, *arguments: str) -> str:
    environment = {**os.environ, "PYTHONPATH": str(installed), "NO_COLOR": "1"}
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=installed,
        env=environment,
        check=True,
        capture_output=True,
        text=True,
    )
    return done.stdout


def test_it_holds_the_package_its_types_and_its_license_and_nothing_else(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    assert "fleet_components/py.typed" in names
    schemas = REPOSITORY / "fleet_components/admission/schemas"
    assert {
        f"fleet_components/admission/schemas/{file.name}" for file in schemas.glob("*.json")
    } <= set(names)
    templates = REPOSITORY / "fleet_components/starting/templates"
    assert {
        f"fleet_components/starting/templates/{file.name}" for file in templates.iterdir()
    } <= set(names)
    assert any(name.endswith("licenses/LICENSE") for name in names)
    tops = {name.partition("/")[0] for name in names}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"fleet_components"}


SDIST = re.compile(
    r"fleet_components/.*\.(py|typed|json|yml|yaml|txt|csv)|README\.md|CHANGELOG\.md|LICENSE|constraints\.txt"
    r"|pyproject\.toml|PKG-INFO|\.gitignore"
)


def test_the_sdist_holds_what_the_wheel_is_built_from_and_nothing_else(
    wheel: Path, tmp_path: Path
) -> None:
    command = [
        sys.executable,
        "-m",
        "build",
        "--sdist",
        "--no-isolation",
        "--outdir",
        str(tmp_path),
        str(REPOSITORY),
    ]
    subprocess.run(command, check=True, capture_output=True)
    (built,) = tmp_path.glob("*.tar.gz")
    with tarfile.open(built) as archive:
        names = [
            member.name.partition("/")[2] for member in archive.getmembers() if member.isfile()
        ]
    assert [name for name in names if not SDIST.fullmatch(name)] == []
    assert {"README.md", "CHANGELOG.md", "LICENSE", "pyproject.toml", "PKG-INFO"} <= {*names}
    packaged = {
        name for name in zipfile.ZipFile(wheel).namelist() if name.startswith("fleet_components/")
    }
    assert {name for name in names if name.startswith("fleet_components/")} == packaged


@pytest.mark.long
def test_the_core_schedules_without_any_extra(installed: Path) -> None:
    file, *selected = run(installed, "-c", CORE).split()
    assert Path(file).is_relative_to(installed)
    assert selected == ["b"]


def test_the_command_runs(installed: Path) -> None:
    sample = REPOSITORY / "stacks" / "fleet"
    assert "ClusterResourcePlacement shop" in run(
        installed, "-m", "fleet_components.cli", "plan", str(sample)
    )


def test_importing_the_package_loads_neither_pulumi_nor_a_cloud_sdk() -> None:
    loaded = (
        "import sys, fleet_components; print(*[n for n in sys.modules if n.startswith('pulumi')])"
    )
    assert (
        subprocess.run(
            [sys.executable, "-c", loaded], check=True, capture_output=True, text=True
        ).stdout
        == "\n"
    )


def test_every_public_name_is_there_and_documented() -> None:
    import fleet_components

    for name in fleet_components.__all__:
        assert getattr(fleet_components, name).__doc__, name
