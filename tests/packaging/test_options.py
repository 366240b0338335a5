"""A row of the table of options is an argument, a key, a flag and a text, wherever these stand."""

from __future__ import annotations

import attrs
import pytest

from fleet_components import FleetArgs
from fleet_components.options import FLAGS, KEYS, OPTIONS, field_of, shared
from fleet_components.plan.options import Options, Settings
from fleet_components.review.planning.survey import CommandLine

ARGS = FleetArgs(source=".", max_wait=5, confirm=["a"], lost=["b"], hub="hub.yaml")


def test_the_arguments_of_a_fleet_are_the_rows() -> None:
    assert attrs.fields_dict(FleetArgs).keys() == OPTIONS.keys()
    for name, option in OPTIONS.items():
        assert f"\n    {name}: {option.help}." in (FleetArgs.__doc__ or "")


def test_what_the_command_line_has_is_an_option_of_a_plan() -> None:
    assert FLAGS.keys() <= attrs.fields_dict(CommandLine).keys()
    assert all(option.key in KEYS for option, _ in FLAGS.values())


@pytest.mark.parametrize("kind", [Settings, Options])
def test_a_field_that_is_an_option_has_its_default(kind: type[attrs.AttrsInstance]) -> None:
    names = shared(kind, FleetArgs(source=".")).keys() - {"kubefleet", "karmada"}
    assert names
    for name in names:
        default, value = OPTIONS[name].default, getattr(kind(), name)
        expected = {} if isinstance(default, attrs.Factory) else default  # type: ignore[arg-type]
        assert (tuple(value) if isinstance(value, frozenset) else value) == expected


def test_a_plan_gets_the_options_that_its_fleet_has() -> None:
    assert Settings(**shared(Settings, ARGS)).max_wait == 5
    given = shared(Options, ARGS)
    assert (given["confirm"], given["lost"]) == (["a"], ["b"])
    # A name of an option alone makes no option: the hub of a plan is a system, not a kubeconfig.
    assert "hub" not in given


def test_a_field_takes_its_check_from_the_row() -> None:
    @attrs.frozen
    class Mine:
        limit: float = field_of("limit", default=0.1)

    metadata = attrs.fields_dict(Mine)["limit"].metadata
    assert Mine().limit == 0.1
    assert str(metadata["problem"](2)) == "is 2"
    assert metadata["problem"](1) is None
