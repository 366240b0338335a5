"""The plug-in as its users have it: sessions of pytest with an ini file, options, mistakes, and workers."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from fleet_components.review.planning.survey import CommandLine, survey
from fleet_components.testing import BrokenRuleError, at_least, plan_fleet_of
from tests.examples.readme import passes
from tests.testing.fleets import REGIONS, member, members, service, write

pytest_plugins = ["pytester"]

REPOSITORY = Path(__file__).parents[2]
EXAMPLE = REPOSITORY / "examples" / "policy-tests"
# Named as a module, and not as an entry point: so it is loaded once, whether the package is installed anew or not.
PLUGIN = (
    "-p",
    "no:fleet",
    "-p",
    "fleet_components.testing.pytest_plugin",
    "-p",
    "no:cacheprovider",
)
STRICT = ("-W", "error", "--strict-markers", "--strict-config")
RULE = """
from fleet_components.testing import at_least

def test_two_regions(fleet_plan):
    at_least(fleet_plan.placements("tier=0"), 2, by="region")
"""


@pytest.fixture
def project(pytester: pytest.Pytester) -> pytest.Pytester:
    """A project with a fleet that keeps to the rule."""
    write(pytester.path / "fleet", [*members(REGIONS), *service("shop", "kubefleet", "ac")])
    pytester.makepyfile(RULE)
    return pytester


@pytest.fixture(scope="module", autouse=True)
def _loaded(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Loads all that plans of both systems load: what a session in process loads first is loaded twice."""
    documents = [
        *members(REGIONS),
        *service("shop", "kubefleet", "ab"),
        *service("cart", "karmada", "ab"),
    ]
    fleet = plan_fleet_of(write(tmp_path_factory.mktemp("fleet"), documents))
    assert fleet.losing("a").placed("cart").replicas == {"b": 2}
    with pytest.raises(BrokenRuleError):
        at_least(fleet.placements(), 2, by="region")


class _Loaded:
    """Sees what a session loads, which pytester unloads at its end."""

    def __init__(self) -> None:
        self.before = set(sys.modules)
        self.first: set[str] = set()

    def pytest_sessionfinish(self) -> None:
        new = sys.modules.keys() - self.before - {PLUGIN[3]}
        self.first = {
            name for name in new if name.startswith(("fleet_components", "pulumi", "attr", "yaml"))
        }


def run(project: pytest.Pytester, *arguments: str) -> pytest.RunResult:
    loaded = _Loaded()
    result = project.runpytest_inprocess(*PLUGIN, *STRICT, *arguments, plugins=[loaded])
    assert loaded.first == set(), "other tests would get it twice"
    return result


def ended(result: pytest.RunResult, **counts: int) -> str:
    result.assert_outcomes(**counts)
    return str(result.stdout)


@pytest.mark.parametrize("system", ["kubefleet", "karmada"])
def test_a_rule_that_is_broken_shows_the_line_of_the_test_and_all_that_breaks_it(
    system: str, project: pytest.Pytester
) -> None:
    write(
        project.path / "fleet",
        [*members(REGIONS), *service("shop", system, "ab"), *service("cart", system, "d")],
    )
    project.makeini("[pytest]\nfleet_source = fleet")
    told = ended(run(project), failed=1)
    assert "broken in 2 places: each is in 2 regions at least\n" in told
    assert "/cart (fleet/fleet.yaml:" in told
    assert "/shop (fleet/fleet.yaml:" in told
    assert '>       at_least(fleet_plan.placements("tier=0"), 2, by="region")\nE   ' in told
    assert "what would do: " in told
    frames = [line for line in told.splitlines() if line.endswith(": BrokenRuleError")]
    assert frames == [
        f"{project.path.joinpath(next(project.path.glob('test_*.py'))).name}:4: BrokenRuleError"
    ]
    assert "contextlib" not in told
    assert "rules.py:" not in told


def test_a_plain_assert_shows_what_it_has_compared(project: pytest.Pytester) -> None:
    project.makepyfile(
        """
        def test_regions(fleet_plan):
            for shop in fleet_plan.placements("tier=0"):
                assert len(shop.regions) >= 3

        def test_members(fleet_plan):
            assert "b" in fleet_plan.placed("shop").members
        """
    )
    told = ended(run(project, "--fleet-source", "fleet"), failed=2)
    assert "where ('north', 'south') = <ClusterResourcePlacement/shop (fleet/fleet.yaml:" in told
    assert "assert 'b' in ('a', 'c')" in told


def test_the_ini_file_and_the_command_line_say_what_is_planned(project: pytest.Pytester) -> None:
    project.makeini("[pytest]\nfleet_source = fleet")
    ended(run(project), passed=1)
    write(project.path / "other", [*members(REGIONS), *service("shop", "kubefleet", "ab")])
    ended(run(project, "--fleet-source", "other"), failed=1)
    below = project.mkdir("below")
    os.chdir(below)
    ended(
        run(project, "..", "--rootdir", str(project.path), "--fleet-source", "../other"), failed=1
    )
    ended(run(project, "..", "--rootdir", str(project.path)), passed=1)


def test_members_and_policies_may_lie_in_several_places(project: pytest.Pytester) -> None:
    write(project.path / "one", members(REGIONS))
    write(project.path / "two", service("shop", "kubefleet", "ac"))
    ended(run(project, "--fleet-source", "one", "--fleet-source", "two"), passed=1)
    project.makeini("[pytest]\nfleet_source = one two")
    ended(run(project), passed=1)


def test_a_state_is_what_the_plan_starts_from(project: pytest.Pytester) -> None:
    after = survey([project.path / "fleet"], CommandLine()).after()
    (project.path / "state.json").write_text(json.dumps(after))
    write(project.path / "fleet", [*members(REGIONS), *service("shop", "kubefleet", "a")])
    project.makepyfile(
        """
        def test_it_loses_one(fleet_plan):
            assert fleet_plan.placed("shop").dropped == ("c",)
        """
    )
    project.makeini("[pytest]\nfleet_source = fleet\nfleet_state = state.json")
    ended(run(project), passed=1)
    ended(run(project, "--fleet-state", str(project.path / "state.json")), passed=1)
    project.makeini("[pytest]\nfleet_source = fleet")
    ended(run(project), failed=1)


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (
            (),
            "nothing says where the fleet is (write fleet_source = fleet/ into the [pytest] section of pytest.ini",
        ),
        (
            ("--fleet-source", "flet"),
            "flet: cannot be read: No such file or directory (the path is taken from",
        ),
        (
            ("--fleet-source", "fleet", "--fleet-state", "none.json"),
            "none.json: cannot be read: No such file",
        ),
        (
            ("--fleet-source", "fleet", "--fleet-name", "blue"),
            'there is no fleet "blue" (fleet=NAME; the fleets are:',
        ),
        (("--fleet-source", "broken"), "fleet.yaml:2: not YAML"),
        (
            ("--fleet-source", "fleet", "--fleet-stack", "prod", "--fleet-source", "project"),
            "is a Pulumi project",
        ),
    ],
    ids=["nothing", "directory", "state", "name", "yaml", "project"],
)
def test_a_mistake_is_said_with_what_would_do(
    arguments: tuple[str, ...], told: str, project: pytest.Pytester
) -> None:
    (project.path / "broken").mkdir()
    (project.path / "broken" / "fleet.yaml").write_text("a: [")
    (project.path / "project").mkdir()
    (project.path / "project" / "Pulumi.yaml").write_text("name: it\nruntime: python\n")
    shown = ended(run(project, *arguments), errors=1)
    assert told in shown
    assert "Traceback" not in shown
    assert "survey" not in shown


def test_a_fixture_plans_anything_and_equal_plans_once(project: pytest.Pytester) -> None:
    write(project.path / "other", [*members(REGIONS), *service("shop", "kubefleet", "ab")])
    project.makepyfile(
        """
        from pathlib import Path

        def test_other_fleets(plan_fleet_of):
            assert plan_fleet_of("other").placed("shop").regions == ("north",)
            assert plan_fleet_of(Path("fleet")).placed("shop").regions == ("north", "south")
            assert plan_fleet_of("fleet", lost=["c"]).placed("shop").members == ("a",)

        def test_equal_ones_are_made_once(plan_fleet_of, fleet_plan):
            assert plan_fleet_of("fleet") is fleet_plan
            assert plan_fleet_of("fleet", lost=["c"]) is not fleet_plan
        """
    )
    ended(run(project, "--fleet-source", "fleet"), passed=2)


def test_secrets_are_in_no_output(project: pytest.Pytester) -> None:
    kind = {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": "token", "namespace": "shop"},
    }
    secret = {**kind, "stringData": {"key": "hunter2"}}
    write(project.path / "fleet", [*members(REGIONS), *service("shop", "kubefleet", "ab"), secret])
    project.makepyfile(
        RULE
        + """
def test_objects(fleet_plan):
    shop = fleet_plan.placed("shop")
    got = shop.objects_on("a")
    assert got == shop.objects == ()
"""
    )
    told = ended(run(project, "--fleet-source", "fleet", "-vv", "--showlocals"), failed=2)
    assert "[secret]" in told
    assert "hunter2" not in told


def test_it_costs_nothing_where_it_is_not_used(pytester: pytest.Pytester) -> None:
    """Nothing is imported but the plug-in, not even Pulumi, and no warning is given."""
    pytester.makepyfile(
        """
        import sys

        def test_nothing_is_loaded():
            loaded = {name for name in sys.modules if name.startswith(("fleet_components", "pulumi", "yaml", "attr"))}
            assert loaded == {
                "fleet_components",
                "fleet_components.lazy",
                "fleet_components.testing",
                "fleet_components.testing.pytest_plugin",
            }
        """
    )
    result = pytester.runpytest_subprocess(
        *PLUGIN, "-p", "no:xdist", "-p", "no:hypothesispytest", *STRICT
    )
    result.assert_outcomes(passed=1)


@pytest.mark.long
def test_an_installation_loads_it_by_its_name(
    project: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As the metadata of the package say; ``-p no:fleet`` and ``-p fleet`` know it by that name too."""
    declared = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["project"][
        "entry-points"
    ]["pytest11"]
    assert declared == {"fleet": PLUGIN[3]}
    metadata = project.path / "site" / "fleet_components_rules-1.dist-info"
    metadata.mkdir(parents=True)
    (metadata / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: fleet-components-rules\nVersion: 1\n"
    )
    (metadata / "entry_points.txt").write_text(f"[pytest11]\nfleet = {declared['fleet']}\n")
    # As in a wheel, whose modules pytest rewrites.
    (metadata / "RECORD").write_text("fleet_components/__init__.py,,\n")
    monkeypatch.setenv("PYTHONPATH", f"{REPOSITORY}{os.pathsep}{metadata.parent}")
    for arguments in ((), ("-p", "fleet")):
        result = project.runpytest_subprocess(*STRICT, *arguments, "--fleet-source", "fleet")
        result.assert_outcomes(passed=1)
    result = project.runpytest_subprocess(*STRICT, "-p", "no:fleet")
    result.stdout.fnmatch_lines(["*fixture 'fleet_plan' not found*"])


@pytest.mark.parametrize(
    "text",
    [
        '[tool.pytest.ini_options]\nfleet_source = "fleet"',
        '[tool.pytest]\nfleet_source = ["fleet"]\nfleet_state = ""',
    ],
)
def test_pyproject_says_it_too(text: str, project: pytest.Pytester) -> None:
    project.makepyprojecttoml(text)
    ended(run(project), passed=1)


@pytest.mark.long
def test_rules_need_no_pulumi(project: pytest.Pytester) -> None:
    project.makeconftest(
        "import sys\nfor name in ('pulumi', 'click', 'rich'):\n    sys.modules[name] = None"
    )
    project.runpytest_subprocess(*PLUGIN, *STRICT, "--fleet-source", "fleet").assert_outcomes(
        passed=1
    )


def test_it_can_be_switched_off(project: pytest.Pytester) -> None:
    result = project.runpytest_inprocess("-p", "no:fleet", "-p", "no:cacheprovider", *STRICT)
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*fixture 'fleet_plan' not found*"])


@pytest.mark.long
def test_workers_plan_as_one_process_does(project: pytest.Pytester) -> None:
    write(project.path / "fleet", [*members(REGIONS), *service("shop", "kubefleet", "ab")])
    result = project.runpytest_subprocess(*PLUGIN, *STRICT, "-n2", "--fleet-source", "fleet")
    result.assert_outcomes(failed=1)
    assert "broken in 1 place: each is in 2 regions at least" in str(result.stdout)


@pytest.mark.long
def test_a_program_is_planned_where_its_stack_is_named(project: pytest.Pytester) -> None:
    (project.path / "program").mkdir()
    (project.path / "program" / "Pulumi.yaml").write_text("name: it\nruntime: python\n")
    (project.path / "program" / "__main__.py").write_text(
        "import pathlib\nimport fleet_components as fc\n"
        "fc.Fleet('dev', fc.FleetArgs(str(pathlib.Path(__file__).parents[1] / 'fleet'), render_to='out'))\n"
    )
    project.makepyfile(
        RULE
        + """
def test_a_loss(fleet_plan):
    assert fleet_plan.losing("a").placed("shop").members == ("c",)
"""
    )
    result = project.runpytest_subprocess(
        *PLUGIN, *STRICT, "--fleet-source", "program", "--fleet-stack", "dev"
    )
    result.assert_outcomes(passed=2)


# The example


def rules_of(folder: Path) -> subprocess.CompletedProcess[str]:
    # Beside a repository of its own, and run as its README says.
    command = [sys.executable, "-m", "pytest", *PLUGIN, "examples/policy-tests"]
    environment = {**os.environ, "COLUMNS": "80", "PYTHONPATH": str(REPOSITORY)}
    return subprocess.run(
        command,
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env=environment,
    )


@pytest.mark.long
def test_the_rules_of_the_example_hold_and_break_as_its_readme_shows(tmp_path: Path) -> None:
    folder = tmp_path / "examples" / "policy-tests"
    shutil.copytree(EXAMPLE, folder, ignore=shutil.ignore_patterns("__pycache__"))
    held = rules_of(tmp_path)
    assert held.returncode == 0, held.stdout
    assert "6 passed" in held.stdout
    for name, text in passes(EXAMPLE)[0].items():
        (folder / name).write_text(text)
    broken = rules_of(tmp_path)
    assert broken.returncode == 1
    shown = (EXAMPLE / "README.md").read_text().rpartition("```\n")[0].rpartition("```\n")[2]
    assert shown.strip() in broken.stdout
    assert shown[shown.index("    def ") :] in (REPOSITORY / "docs" / "testing.md").read_text()
    assert (EXAMPLE / "README.md").read_text().count("E         ClusterResourcePlacement") == 1


def test_a_member_without_a_region_is_told_so(project: pytest.Pytester) -> None:
    write(project.path / "fleet", [member("a", {}), *service("shop", "kubefleet", "a")])
    told = ended(run(project, "--fleet-source", "fleet"), failed=1)
    assert (
        "no member has a region (declare spec.region, or the label topology.kubernetes.io/region)"
        in told
    )
