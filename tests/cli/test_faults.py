"""A program that ends with a fault of its own: its author sees where, and nothing of what is not theirs."""

from __future__ import annotations

import sys
import tomllib
from collections.abc import Mapping
from pathlib import Path

import attrs
import pytest

from fleet_components import Fleet, FleetArgs, FleetError, read_source
from fleet_components.model.extras import extra_of
from fleet_components.testing import kubeconfig, run_program
from tests.cli.fleets import PROGRAM, PROJECT, run, write
from tests.cli.test_process import execute

HELPER = "def half(number):\n    return number / 0\n"


@attrs.frozen
class Case:
    """A program, and all that is said of it; ``files`` are further files of the program."""

    program: str
    says: str
    files: Mapping[str, str] = attrs.field(factory=dict)


CASES = {
    "an error": Case(
        "import pulumi\n1 / 0\n",
        "error: stacks/__main__.py:2: ZeroDivisionError: division by zero\n"
        "  stacks/__main__.py:2, in <module>\n    1 / 0\n",
    ),
    "an error in a module": Case(
        "import helper\n\nhelper.half(3)\n",
        "error: stacks/helper.py:2: ZeroDivisionError: division by zero\n"
        "  stacks/__main__.py:3, in <module>\n    helper.half(3)\n"
        "  stacks/helper.py:2, in half\n    return number / 0\n",
        {"helper.py": HELPER},
    ),
    "an error inside an apply": Case(
        "import pulumi, helper\n\npulumi.export('x', pulumi.Output.from_input(1).apply(lambda one: helper.half(one)))\n",
        "error: stacks/helper.py:2: ZeroDivisionError: division by zero\n"
        "  stacks/__main__.py:3, in <lambda>\n"
        "    pulumi.export('x', pulumi.Output.from_input(1).apply(lambda one: helper.half(one)))\n"
        "  stacks/helper.py:2, in half\n    return number / 0\n",
        {"helper.py": HELPER},
    ),
    "what ours is asked wrongly": Case(
        "from fleet_components import Inventory\n\nInventory(3)\n",
        "error: stacks/__main__.py:3: TypeError: 'int' object is not iterable\n"
        "  stacks/__main__.py:3, in <module>\n    Inventory(3)\n",
    ),
    "what pulumi is asked wrongly": Case(
        "import pulumi\n\npulumi.ComponentResource('fleet:x:Y', 3)\n",
        "error: stacks/__main__.py:3: TypeError: Expected resource name to be a string\n"
        "  stacks/__main__.py:3, in <module>\n    pulumi.ComponentResource('fleet:x:Y', 3)\n",
    ),
    "an error that comes of another": Case(
        "try:\n    {}['a']\nexcept KeyError as missing:\n    raise ValueError('no a') from missing\n",
        "error: stacks/__main__.py:4: ValueError: no a\n"
        "  stacks/__main__.py:4, in <module>\n    raise ValueError('no a') from missing\n"
        "  because of KeyError: 'a'\n"
        "  stacks/__main__.py:2, in <module>\n    {}['a']\n",
    ),
    "no Python": Case(
        "import pulumi\nif True\n    pass\n",
        "error: stacks/__main__.py:2: SyntaxError: expected ':'\n    if True\n",
    ),
    "no Python in a module": Case(
        "import helper\n",
        "error: stacks/helper.py:1: SyntaxError: '(' was never closed\n"
        "    half(\n  stacks/__main__.py:1, in <module>\n    import helper\n",
        {"helper.py": "half(\n"},
    ),
    "no indentation": Case(
        "if True:\npass\n",
        "error: stacks/__main__.py:2: IndentationError: expected an indented block after 'if' statement on line 1\n"
        "    pass\n",
    ),
    "a module of nobody": Case(
        "import helpre\n",
        "error: stacks/__main__.py:1: there is no module helpre\n  hint: did you mean helper?\n",
        {"helper.py": HELPER},
    ),
    "a module that is missing": Case(
        "import helper\n",
        "error: stacks/helper.py:1: there is no module tomato\n"
        "  hint: pip install tomato, or put tomato.py beside the program\n",
        {"helper.py": "import tomato.sauce\n"},
    ),
    "a name that is missing": Case(
        "from helper import whole\n",
        "error: stacks/__main__.py:1: ImportError: cannot import name 'whole' from 'helper' (HELPER)\n"
        "  stacks/__main__.py:1, in <module>\n    from helper import whole\n",
        {"helper.py": HELPER},
    ),
    "an end of its own": Case(
        "import sys\nsys.exit(3)\n", "error: the program ended itself with exit status 3\n"
    ),
    "an end with words": Case(
        "import sys\nsys.exit('no')\n", "error: the program ended itself: no\n"
    ),
    "an end inside an apply": Case(
        "import pulumi, sys\npulumi.Output.from_input(1).apply(lambda _: sys.exit(4))\n",
        "error: the program ended itself with exit status 4\n",
    ),
    "a Ctrl-C": Case("raise KeyboardInterrupt\n", "error: interrupted\n"),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
def test_shows_what_is_the_users(
    case: Case, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = {
        f"stacks/{name}": text for name, text in {**case.files, "__main__.py": case.program}.items()
    }
    monkeypatch.chdir(write(tmp_path, {**PROJECT, **files}))
    ended = run("plan", ".")
    sys.modules.pop("helper", None)
    assert (ended.exit_code, ended.stdout) == (1, "")
    assert ended.stderr == case.says.replace("HELPER", str(tmp_path.resolve() / "stacks/helper.py"))


def test_an_end_that_is_none(tmp_path: Path) -> None:
    folder = write(
        tmp_path, {**PROJECT, "stacks/__main__.py": PROGRAM + "import sys\nsys.exit()\n"}
    )
    assert run("plan", folder).exit_code == 0


EXTRAS = {
    "pulumi_kubernetes": "kubernetes",
    "pulumi_azure_native": "azure",
    "lightkube": "kubernetes",
}
WITHOUT = "import sys\nsys.modules['{}'] = None\nfrom fleet_components.cli import main\nmain()\n"


@pytest.mark.samples(1)
@pytest.mark.parametrize("module", EXTRAS)
def test_an_import_of_the_program_names_the_extra(
    module: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(
        write(tmp_path, {**PROJECT, "stacks/__main__.py": f"import pulumi\nimport {module}\n"})
    )
    ended = execute("plan", ".", "--project", code=WITHOUT.format(module))
    assert ended.stderr == (
        f"error: stacks/__main__.py:2: {module} is not installed\n"
        f"  hint: pip install 'fleet-components[{EXTRAS[module]}]'\n"
    )


def test_an_import_of_a_fleet_names_the_extra(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(write(tmp_path, PROJECT))
    ended = execute("plan", ".", "--project", code=WITHOUT.format("pulumi_kubernetes"))
    assert ended.stderr == (
        "error: stacks/__main__.py:4: pulumi_kubernetes is not installed\n"
        "  hint: pip install 'fleet-components[kubernetes]'\n"
    )


def test_what_a_running_fleet_lacks_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As on an engine, which asks the clusters who they are: without lightkube nobody could."""
    write(tmp_path)
    for module in ("fleet", "identification"):
        monkeypatch.setattr(f"fleet_components.components.{module}.in_process", lambda: False)
    monkeypatch.setitem(__import__("sys").modules, "lightkube", None)
    kubeconfigs = {name: kubeconfig(name) for name in ("amsterdam", "dublin")}
    run = run_program(
        lambda: Fleet("dev", FleetArgs(read_source(tmp_path), kubeconfigs=kubeconfigs))
    )
    assert isinstance(run.error, FleetError)
    (problem,) = run.error.problems
    assert (problem.what, Path(problem.file).resolve()) == (
        "lightkube is not installed",
        Path(__file__).resolve(),
    )
    assert problem.hint == "pip install 'fleet-components[kubernetes]'"


def test_extras_are_those_of_the_package() -> None:
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]
    declared = {
        requirement.partition(">")[0].replace("-", "_"): extra
        for extra in ("observe-azure", "azure", "kubernetes", "cli")
        for requirement in project["optional-dependencies"][extra]
    }
    assert set(project["optional-dependencies"]) == {
        "observe-azure",
        "azure",
        "kubernetes",
        "cli",
        "dev",
    }
    assert {module: extra_of(module) for module in declared} == declared
    assert extra_of("pytest") == ""


def test_run_program_keeps_the_users_frames_alone() -> None:
    def program() -> None:
        raise ValueError("mine")

    error = run_program(program).error
    assert error is not None
    assert error.__traceback__ is not None
    assert error.__traceback__.tb_frame.f_code.co_name == "program"
    assert error.__traceback__.tb_next is None
