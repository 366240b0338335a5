"""``docs/fields.md`` is what ``make docs`` writes, and has every field that is not carried out."""

from __future__ import annotations

from pathlib import Path

from fleet_components.plan.effects import EFFECTS
from tools.fields import page

PAGE = Path(__file__).parents[2] / "docs" / "fields.md"


def test_the_page_is_that_of_the_code() -> None:
    assert PAGE.read_text() == page(), "run: make docs"


def test_every_entry_is_on_the_page_with_its_reason() -> None:
    text = page()
    for entry in EFFECTS:
        assert entry.reason in text
        assert entry.field in text


def test_the_rest_of_a_field_is_called_so_for_a_kind_that_has_other_entries_for_it() -> None:
    assert "`metadata.labels{}: others`" in page()
    assert "`spec.association: others`" not in page()
