"""How a component refuses its arguments: all problems at once, and no traceback under them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, ClassVar

import attrs
import pulumi

from fleet_components.model.extras import extra_of, not_installed
from fleet_components.model.frames import called_from
from fleet_components.model.problem import FleetError, Problem
from fleet_components.model.typed import Typed, fitted

if TYPE_CHECKING:
    from fleet_components.plan.fleet_plan import FleetPlan


class RefusedError(FleetError, pulumi.RunError):
    """Input that cannot be worked with. Pulumi prints its text alone, without a traceback."""


class RefusedPlanError(RefusedError):
    """An update that must not happen. The plan is shown whole: why it is refused, then what it would do.

    Attributes:
        plan: the plan.
    """

    def __init__(self, plan: FleetPlan) -> None:
        super().__init__(plan.refused)
        self.plan = plan

    def __str__(self) -> str:
        from fleet_components.plan.describe import describe_plan, describe_subject  # a member needs no planner

        lines = [f"the update is refused: {problem}" for problem in self.plan.refused]
        lines += [line.text for line in describe_plan(self.plan)]
        for one in self.plan.subjects:
            told, _ = describe_subject(one)
            lines += [f"{one.name}:", *(f"  {line}" for line in told)] if told else []
        return "\n".join(lines)


Typed.REFUSAL = RefusedError


class Arguments(Typed):
    """What a component is made of, with its types checked."""

    __slots__ = ()
    NAMES: ClassVar[Mapping[str, Any]] = {"Output": pulumi.Output, "T": Any}  # as pulumi.Input writes them


def expect(component: type, name: Any, args: Any, kind: type, opts: Any) -> None:
    """Refuse what a component cannot be made with: a name that is no text, arguments of another class.

    Raises:
        RefusedError: an argument has another type; it is named.
    """
    given = {"name": (str, name), "args": (kind, args), "opts": (pulumi.ResourceOptions | None, opts)}
    problems: list[Problem] = []
    for argument, (wanted, value) in given.items():
        try:
            fitted(wanted, value, (component.__name__, argument))
        except FleetError as error:
            problems += error.problems
    if problems:
        raise RefusedError(problems)


def of_the_program(problems: Iterable[Problem]) -> Iterator[Problem]:
    """The problems; those that are in no file are in the line of the program that is running."""
    file, line = called_from()
    return (problem if problem.file else attrs.evolve(problem, file=file, line=line) for problem in problems)


def refuse(problems: Iterable[Problem], subject: str) -> None:
    """Stop the program if there are problems; ``subject`` names what they are in.

    Raises:
        RefusedError: there is at least one.
    """
    found = [attrs.evolve(problem, subject=subject) for problem in of_the_program(problems)]
    if found:
        raise RefusedError(found)


@contextmanager
def refusing() -> Iterator[None]:
    """Turns what a reader refuses into a refusal of the component, and a module that is missing as well.

    Raises:
        RefusedError: the reader raised a ``FleetError``, or an extra of this package is not installed.
    """
    try:
        yield
    except RefusedError:
        raise
    except FleetError as error:
        raise RefusedError(error.problems) from None
    except ModuleNotFoundError as error:
        if not extra_of(error.name or ""):
            raise
        file, line = called_from()
        raise RefusedError([attrs.evolve(not_installed(error.name or ""), file=file, line=line)]) from None
