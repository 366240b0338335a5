"""Errors of components: they carry all problems at once, and Pulumi shows them without a
traceback.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
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
    """Invalid input. Pulumi prints a ``RunError`` without a traceback."""


class RefusedPlanError(RefusedError):
    """An update that is refused. Its text is the whole plan: first the reasons for the refusal,
    then the changes.

    Attributes:
        plan: the refused plan; the first if there are several.
        plans: the plans of all fleets that the program has declared.
    """

    def __init__(self, plans: Sequence[FleetPlan]) -> None:
        refused = [plan for plan in plans if plan.refused]
        super().__init__(problem for plan in refused for problem in plan.refused)
        # Raised only if at least one plan is refused.
        self.plan, self.plans = refused[0], tuple(plans)

    def __str__(self) -> str:
        # Imported here, so that a member can be declared without loading the planner.
        from fleet_components.plan.describe import describe_plan, describe_subject

        lines = [f"the update is refused: {problem}" for problem in self.problems]
        for plan in self.plans:
            lines += [f"{plan.options.fleet}:"] if len(self.plans) > 1 else []
            lines += [line.text for line in describe_plan(plan)]
            for subject in plan.subjects:
                reasons, _ = describe_subject(plan, subject)
                lines += [f"{subject.name}:", *(f"  {line}" for line in reasons)] if reasons else []
        return "\n".join(lines)


# The model does not import Pulumi, so the base class gets its error from here.
Typed.REFUSAL = RefusedError


class Arguments(Typed):
    """Base class for the arguments of a component; it checks their types."""

    __slots__ = ()
    # The names that pulumi.Input uses in its annotation.
    NAMES: ClassVar[Mapping[str, Any]] = {"Output": pulumi.Output, "T": Any}


def expect(component: Callable[..., Any], name: Any, args: Any, kind: type, opts: Any) -> None:
    """Refuse constructor arguments of the wrong type: a name that is not text, arguments of another
    class.

    Raises:
        RefusedError: one or more arguments have the wrong type; each is named.
    """
    given = {
        "name": (str, name),
        "args": (kind, args),
        "opts": (pulumi.ResourceOptions | None, opts),
    }
    problems: list[Problem] = []
    for argument, (wanted, value) in given.items():
        try:
            fitted(wanted, value, (component.__name__, argument))
        except FleetError as error:
            problems += error.problems
    if problems:
        raise RefusedError(problems)


def of_the_program(problems: Iterable[Problem]) -> Iterator[Problem]:
    """Return the problems; those without a file get the line of the user's program that is
    running.
    """
    file, line = called_from()
    return (
        problem if problem.file else attrs.evolve(problem, file=file, line=line)
        for problem in problems
    )


def refuse(problems: Iterable[Problem], subject: str) -> None:
    """Raise an error if there are problems; ``subject`` names the component that they are about.

    Raises:
        RefusedError: there is at least one problem.
    """
    found = [attrs.evolve(problem, subject=subject) for problem in of_the_program(problems)]
    if found:
        raise RefusedError(found)


@contextmanager
def refusing() -> Iterator[None]:
    """Convert a ``FleetError``, or the import error of a module from an extra, into an error of the
    component.

    Raises:
        RefusedError: the body raised a ``FleetError``, or an extra of this package is not
            installed.
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
        raise RefusedError(
            [attrs.evolve(not_installed(error.name or ""), file=file, line=line)]
        ) from None
