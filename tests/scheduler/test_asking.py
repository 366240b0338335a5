"""A plug-in is asked: its errors name it, and those of the scheduler go through."""

from __future__ import annotations

import pytest

from fleet_components.model.problem import FleetError
from fleet_components.scheduler.cycle import ask
from fleet_components.scheduler.framework import Plugin, SchedulingError


class Broken(Plugin):
    """A plug-in of which an error is expected."""

    name = "Broken"

    def fails(self, error: Exception) -> int:
        raise error


def test_an_error_of_a_plugin_names_it_and_hides_the_value() -> None:
    with pytest.raises(FleetError) as refused:
        ask(Broken(), lambda plugin: plugin.fails(ValueError("a secret")))
    (problem,) = refused.value.problems
    assert "failed with a ValueError" in problem.what
    assert "Broken" in str(problem)
    assert "secret" not in str(problem)
    assert problem.file.endswith("test_asking.py")


@pytest.mark.parametrize("error", [SchedulingError("no room"), FleetError([])])
def test_what_a_plugin_means_to_say_goes_through(error: Exception) -> None:
    with pytest.raises(type(error)) as told:
        ask(Broken(), lambda plugin: plugin.fails(error))
    assert told.value is error


def test_an_answer_is_returned() -> None:
    assert ask(Broken(), lambda plugin: plugin.name) == "Broken"
