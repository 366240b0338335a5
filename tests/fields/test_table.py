"""The table of what is not carried out: each entry is about a field that exists, and no field is in two."""

from __future__ import annotations

from itertools import combinations, pairwise

import pytest

from fleet_components.admission import KINDS
from fleet_components.plan.effect import Effect, Unheeded
from fleet_components.plan.effects import EFFECTS, entries_of
from fleet_components.systems.karmada.model.settings import KarmadaSettings
from tests.fields.schemas import FIELDS, KINDS_OF_FIELDS, Field


def _id(entry: Unheeded) -> str:
    return f"{entry.kinds[0]}-{entry.field or 'whole'}-{'-'.join(entry.only)}"


@pytest.mark.parametrize("entry", EFFECTS, ids=_id)
def test_an_entry_is_about_a_field_of_each_of_its_kinds(entry: Unheeded) -> None:
    having = {
        kind.name
        for kind in KINDS.values()
        for known, _ in entries_of(kind.api_version, kind.name)
        if known == entry
    }
    assert sorted(having) == sorted(entry.kinds)
    assert len(set(entry.kinds)) == len(entry.kinds)


@pytest.mark.parametrize("entry", EFFECTS, ids=_id)
def test_an_entry_has_a_reason_and_a_refusal_says_what_to_do(entry: Unheeded) -> None:
    assert entry.reason
    assert entry.hint or entry.effect is not Effect.REFUSED
    assert not entry.hint or entry.effect is not Effect.NOT_NEEDED
    assert not entry.unless or hasattr(KarmadaSettings(), entry.unless)


@pytest.mark.parametrize("entry", EFFECTS, ids=_id)
def test_what_is_refused_here_is_carried_out_on_a_hub(entry: Unheeded) -> None:
    """Else a hub that runs could not be planned on."""
    assert entry.on_hub or entry.effect is not Effect.REFUSED
    assert not entry.on_hub or entry.effect is not Effect.NOT_NEEDED


@pytest.mark.parametrize("kind", KINDS_OF_FIELDS, ids=str)
def test_a_field_is_in_one_entry_or_in_several_of_different_values(kind: tuple[str, str]) -> None:
    for field in (item for item in FIELDS if item.of == kind):
        of_different_values(field)


def of_different_values(field: Field) -> None:
    entries = field.entries
    assert len({entry.field for entry in entries}) <= 1, "a field, and one that holds it"
    assert [entry.always for entry in entries] == sorted(entry.always for entry in entries), (
        "the rest comes last"
    )
    assert all(not (item.always and other.always) for item, other in pairwise(entries))
    assert all(not set(item.only) & set(other.only) for item, other in combinations(entries, 2))


def test_values_that_an_entry_is_about_exist() -> None:
    for kind in KINDS.values():
        for entry, schema in entries_of(kind.api_version, kind.name):
            assert not schema.enum or set(entry.only) <= set(schema.enum), entry


def test_kinds_that_are_refused_as_a_whole_have_no_other_entry() -> None:
    whole = {kind for entry in EFFECTS if not entry.field for kind in entry.kinds}
    assert whole == {"ClusterTaintPolicy"}
    assert [entry for entry in EFFECTS if entry.field and whole & set(entry.kinds)] == []
