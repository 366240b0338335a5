"""An example, and a stack, is warned of nothing but what it is about."""

from __future__ import annotations

from pathlib import Path

import pytest

from fleet_components import Options, Past, plan_fleet, read_source

ROOT = Path(__file__).parents[2]
FLEETS = {
    **{
        folder.parent.name: [folder.parent]
        for folder in sorted(ROOT.glob("examples/*/members.yaml"))
    },
    "taking-over": [ROOT / "examples/taking-over/fleet"],
    "local": [ROOT / "stacks/fleet"],
    "azure": [ROOT / "stacks/azure"],
    # What the last step of `make demo` plans.
    "next": [
        *(
            ROOT / "stacks/fleet" / f"{name}.yaml"
            for name in ("monitoring", "placements", "reports")
        ),
        ROOT / "stacks/fleet-next",
    ],
}
ABOUT = {
    "crp-with-status-reporting": [
        '"NamespaceAccessible" has no effect: no status is written to a cluster: fleet status -o yaml prints the ClusterResourcePlacementStatus'
    ],
    "crp-namespace-only": [
        "2 objects are selected by no policy: Service my-app/web, Deployment my-app/web"
    ],
    "envelope-without-namespace": [
        "does not go to aks-dublin, aks-tokyo, where ResourcePlacement my-app/storefront needs it"
    ],
    "prometheus-and-rbac": ["1 object is selected by no policy: ClusterRole fleet-operator"],
    "rp-fixed": ["1 object is selected by no policy: ConfigMap my-app/back-office"],
}


@pytest.mark.parametrize("name", FLEETS)
def test_nothing_is_warned_of_but_what_it_is_about(name: str) -> None:
    plan = plan_fleet(read_source(*FLEETS[name]), Past(), Options())
    found = [
        *plan.warnings,
        *(problem for subject in plan.subjects for problem in subject.subject.warnings),
    ]
    assert [problem.what for problem in found] == ABOUT.get(name, [])


@pytest.mark.parametrize("name", ABOUT)
def test_its_readme_says_so(name: str) -> None:
    assert "the plan says" in (ROOT / "examples" / name / "README.md").read_text()
