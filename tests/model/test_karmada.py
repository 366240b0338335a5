"""Tolerations of Karmada, and what a state may say of a template."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from fleet_components.model.cluster import Taint
from fleet_components.model.codec import decode
from fleet_components.model.frames import raised_at
from fleet_components.systems.karmada.model.memory import TemplateMemory
from fleet_components.systems.karmada.model.policy import Toleration

DOWN = Taint("down", "yes", "NoExecute")


@pytest.mark.parametrize(
    ("toleration", "tolerates"),
    [
        (Toleration("down", "Exists"), True),
        (Toleration("", "Exists"), True),
        (Toleration("down", "Exists", effect="NoExecute"), True),
        (Toleration("down", "Exists", effect="NoSchedule"), False),
        (Toleration("up", "Exists"), False),
        (Toleration("down", "Equal", "yes"), True),
        (Toleration("", "", "yes"), True),
        (Toleration("down", "", "no"), False),
        (Toleration("down", "Is", "yes"), False),
    ],
)
def test_a_toleration_matches_a_taint(toleration: Toleration, tolerates: bool) -> None:
    assert toleration.tolerates(DOWN) is tolerates


@pytest.mark.parametrize("clusters", [{"a": -1}, {"a": 2**31}, {"A/b": 1}])
def test_replicas_of_a_state_are_numbers_by_member(clusters: dict[str, Any]) -> None:
    assert decode(TemplateMemory, {"clusters": {"a": 0}}).clusters == {"a": 0}
    with pytest.raises(Exception, match=r"is not a number from 0|is not the name of a member"):
        decode(TemplateMemory, {"clusters": clusters})


def test_an_error_is_raised_where_its_innermost_frame_is() -> None:
    def inner() -> None:
        raise LookupError

    with pytest.raises(LookupError) as caught:
        inner()
    file, line = raised_at(caught.value)
    assert Path(file).name == "test_karmada.py"
    assert line == inner.__code__.co_firstlineno + 1
    assert raised_at(ValueError()) == ("", None)
