"""What a run in process leaves behind in the SDK: nothing."""

from __future__ import annotations

import pytest
from pulumi.runtime import resource

from fleet_components.testing import run_program


@pytest.mark.parametrize("program", [lambda: None, lambda: 1 / 0])
def test_the_sdk_is_as_it_was(program: object) -> None:
    before = vars(resource).copy()
    run_program(program)  # type: ignore[arg-type]
    assert vars(resource) == before
