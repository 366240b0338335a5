"""Measures the tests with mutants: ``python -m tools.mutants [PACKAGE ...]``.

A mutant is a copy of the package with one small fault: another operator, another number, a
condition that is negated. The tests of the folder with the same name must notice it. The faults
come from the operators of Cosmic Ray; which of them are tried is drawn with a seed, so that a run
can be repeated. Each mutant lives in a copy of the tree, and the tree itself is never changed.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from difflib import ndiff
from itertools import islice
from pathlib import Path
from queue import Queue

import attrs
from cosmic_ray.ast import ast_nodes, get_ast
from cosmic_ray.mutating import mutate_code
from cosmic_ray.operators.operator import Operator
from cosmic_ray.operators.provider import OperatorProvider

ROOT = Path(__file__).parents[1]
PACKAGE = "fleet_components"
SYSTEMS = "systems"
NUMBER = 30
"""How many mutants are tried in each package."""
ENOUGH = 0.8
"""The share of them that the tests must kill."""
FAST = "not clusters and not hubs and not long and not engine"
TESTS = {"components": "delivery", "review": "cli"}
"""Folders of tests that are not named as what they test."""
_WITHOUT = {
    # These two ask for arguments.
    *("VariableInserter", "VariableReplacer"),
    # The same for None and for the members of an enumeration, which are what ``is`` compares.
    *("ReplaceComparisonOperator_Is_Eq", "ReplaceComparisonOperator_IsNot_NotEq"),
}
"""Operators that are not tried. Nor is ``|`` changed: it joins types, which nothing evaluates."""
_SLOWEST = 900
"""Seconds after which a mutant counts as killed: it loops."""


@attrs.frozen
class Mutant:
    """A file with one fault.

    Attributes:
        path: the file, from the root.
        operator: the name of the operator of Cosmic Ray.
        occurrence: at which of its places in the file it strikes, from 0.
        line: the line of the fault, from 1.
    """

    path: Path
    operator: str
    occurrence: int
    line: int

    def code(self) -> str:
        """Return the text of the file with the fault."""
        code = (ROOT / self.path).read_text(encoding="utf-8")
        return str(mutate_code(code, _operator(self.operator), self.occurrence))

    def change(self) -> str:
        """Return the first lines that differ, before and after."""
        before = (ROOT / self.path).read_text(encoding="utf-8").splitlines()
        lines = [line for line in ndiff(before, self.code().splitlines()) if line[1:].strip()]
        sides = (next((line[2:].strip() for line in lines if line[0] == side), "") for side in "-+")
        return "  ->  ".join(sides)


@attrs.frozen
class Result:
    """What came of the mutants of one package."""

    package: str
    killed: Sequence[Mutant]
    survived: Sequence[Mutant]

    @property
    def tried(self) -> int:
        """How many mutants there were."""
        return len(self.killed) + len(self.survived)

    @property
    def is_enough(self) -> bool:
        """Whether the tests kill the share that is asked for."""
        return len(self.killed) >= ENOUGH * self.tried


def packages() -> list[str]:
    """Return the names of all packages that have tests of their own."""
    names = sorted(path.parent.name for path in (ROOT / PACKAGE).glob("*/__init__.py"))
    return [name for name in names if _tests(name).is_dir()]


def files_of(package: str) -> list[Path]:
    """Return the files of a package, with the parts of the systems that have its name."""
    root = ROOT / PACKAGE
    folders = [root / package, *(root / SYSTEMS).glob(f"*/{package}")]
    files = (path for folder in folders for path in folder.rglob("*.py"))
    return sorted(path.relative_to(ROOT) for path in files)


def sample(package: str, number: int, seed: int) -> list[Mutant]:
    """Draw places of a package, and one fault for each of them.

    Args:
        package: the name of a folder of the package.
        number: how many mutants; fewer where there are not as many places.
        seed: the same seed draws the same mutants from the same code.
    """
    by_place: dict[tuple[Path, tuple[int, int]], list[Mutant]] = {}
    for path in files_of(package):
        for place, mutant in _mutants(path):
            by_place.setdefault((path, place), []).append(mutant)
    drawn = random.Random(f"{package} {seed}")
    places = drawn.sample(sorted(by_place), len(by_place))
    mutants = (drawn.choice(by_place[place]) for place in places)
    return list(islice(filter(_compiles, mutants), number))


def _mutants(path: Path) -> Iterator[tuple[tuple[int, int], Mutant]]:
    """All faults of a file, each with its line and column."""
    code = (ROOT / path).read_text(encoding="utf-8")
    nodes = list(ast_nodes(get_ast(code)))
    for name in sorted(filter(_is_tried, OperatorProvider())):
        operator, occurrence = _operator(name), -1
        for node in nodes:
            for (line, column), _ in operator.mutation_positions(node):
                occurrence += 1
                yield (line, column), Mutant(path, name, occurrence, line)


def _is_tried(name: str) -> bool:
    """Whether the faults of an operator may matter."""
    return name not in _WITHOUT and "_BitOr_" not in name


def _compiles(mutant: Mutant) -> bool:
    try:
        compile(mutant.code(), mutant.path, "exec")
    except SyntaxError:
        return False
    return True


def _operator(name: str) -> Operator:
    operator: Operator = OperatorProvider()[name]()
    return operator


def run(package: str, mutants: Sequence[Mutant], trees: Queue[Path], jobs: int) -> Result:
    """Run the tests of a package once for each mutant.

    Raises:
        SystemExit: the tests fail without any mutant.
    """
    _check(package, trees)
    with ThreadPoolExecutor(jobs) as pool:
        kills = list(pool.map(lambda mutant: _is_killed(package, mutant, trees), mutants))
    by_kill = {
        kill: [m for m, k in zip(mutants, kills, strict=True) if k is kill]
        for kill in (True, False)
    }
    return Result(package, by_kill[True], by_kill[False])


def _check(package: str, trees: Queue[Path]) -> None:
    tree = trees.get()
    try:
        if _fails(package, tree):
            raise SystemExit(f"the tests of {package} fail without any mutant")
    finally:
        trees.put(tree)


def _is_killed(package: str, mutant: Mutant, trees: Queue[Path]) -> bool:
    tree = trees.get()
    path = tree / mutant.path
    original = path.read_text(encoding="utf-8")
    try:
        path.write_text(mutant.code(), encoding="utf-8")
        killed = _fails(package, tree)
    finally:
        path.write_text(original, encoding="utf-8")
        trees.put(tree)
    _write(f"{'killed  ' if killed else 'SURVIVED'} {mutant.path}:{mutant.line} {mutant.change()}")
    return killed


def _fails(package: str, tree: Path) -> bool:
    options = ["-x", "-q", "-n", "0", "-p", "no:cacheprovider", "-m", FAST]
    command = [sys.executable, "-m", "pytest", *options, str(_tests(package).relative_to(ROOT))]
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1", "PYTHONPATH": str(tree)}
    try:
        done = subprocess.run(
            command, cwd=tree, env=environment, capture_output=True, timeout=_SLOWEST
        )
    except subprocess.TimeoutExpired:
        return True
    return done.returncode != 0


def _tests(package: str) -> Path:
    return ROOT / "tests" / TESTS.get(package, package)


def _copied(to: Path) -> Path:
    """Copy the files of the tree that git knows or does not ignore."""
    listed = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    names = subprocess.run(listed, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    for name in filter(None, names.split("\0")):
        if (ROOT / name).is_file():
            (to / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, to / name)
    return to


def report(results: Iterable[Result], seed: int) -> str:
    """Return the table of all packages, and the mutants that survive, as Markdown."""
    rows = [
        f"| {result.package} | {result.tried} | {len(result.killed)} | {len(result.survived)} |"
        for result in results
    ]
    survivors = [
        f"- `{mutant.path}`, line {mutant.line}: `{mutant.change()}`"
        for result in results
        for mutant in result.survived
    ]
    table = ["| package | mutants | killed | survive |", "| --- | --- | --- | --- |", *rows]
    return "\n".join([f"Seed {seed}.", "", *table, "", *survivors])


def main() -> int:
    """Return 0 where the tests of all packages kill enough mutants."""
    options = _options()
    _write(f"seed {options.seed}")
    results = []
    with tempfile.TemporaryDirectory() as place:
        trees: Queue[Path] = Queue()
        for number in range(options.jobs):
            trees.put(_copied(Path(place, str(number))))
        for package in options.packages or packages():
            mutants = sample(package, options.number, options.seed)
            results.append(run(package, mutants, trees, options.jobs))
            _write(report(results[-1:], options.seed))
    _write(report(results, options.seed))
    return 0 if all(result.is_enough for result in results) else 1


def _write(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("packages", nargs="*", metavar="PACKAGE", help="by default all")
    parser.add_argument("--number", type=int, default=NUMBER, help="mutants of each package")
    parser.add_argument("--seed", type=int, default=random.randrange(10**6))
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
