"""Who uses nothing of Azure does not pay for its SDK."""

from __future__ import annotations

import subprocess
import sys


def loaded(statement: str) -> set[str]:
    """The top-level packages that are loaded after a statement in a new interpreter."""
    code = f"{statement}\nimport sys\nprint(*{{name.partition('.')[0] for name in sys.modules}})"
    return set(
        subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True
        ).stdout.split()
    )


def test_the_package_does_not_load_the_azure_sdk() -> None:
    assert "pulumi_azure_native" not in loaded("import fleet_components")


def test_declarations_and_records_need_no_pulumi() -> None:
    statement = (
        "import fleet_components.azure.declarations.members, fleet_components.azure.values.record"
    )
    assert not {"pulumi", "pulumi_azure_native"} & loaded(statement)
