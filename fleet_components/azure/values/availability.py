"""Regions, zones and VM sizes: whether a place has what is declared for it, as far as the table of
sizes tells.

The table is dated. What is newer than it is taken when the declaration says what the table would:
``hourlyPrice``, or ``cpu`` and ``memory``, of a pool; or with a table of one's own.
"""

from __future__ import annotations

from collections.abc import Iterator
from difflib import get_close_matches

from fleet_components.azure.values import names
from fleet_components.azure.values.node_pool import NodePool
from fleet_components.azure.values.vm_size import SizeTable, built_in_sizes
from fleet_components.model.message import Message
from fleet_components.model.problem import FieldPath, Problem

_OWN_TABLE = "a table of one's own (read_sizes) with a column for it"


def region_problems(
    region: str, table: SizeTable, path: FieldPath, *, more: str = ""
) -> Iterator[Problem]:
    """Yield a problem if a region is not the name of one, or is known neither to the table nor to
    that of the package.

    Args:
        region: the short name of the region.
        table: the table of sizes in use.
        path: the path of the field.
        more: a further way to declare a region that is newer than the table.
    """
    wrong_name = list(names.REGION.problems(region, path))
    yield from wrong_name
    # A table of one's own does not need to repeat the regions of the package.
    known = table.regions | built_in_sizes().regions
    if not wrong_name and region not in known:
        near = get_close_matches(region, sorted(known), n=3, cutoff=0.7)
        meant = f"did you mean {' or '.join(near)}? " if near else ""
        yield Problem(
            Message("no-region", 'there is no region "{region}"', region=region),
            path,
            f"{meant}A newer one needs {_OWN_TABLE}{more}",
        )


def pool_problems(
    pool: NodePool, region: str, table: SizeTable, path: FieldPath
) -> Iterator[Problem]:
    """Yield problems for zones in a region without zones, and for a VM size that has no price in
    the region.

    A size without a price is not offered there. A region that the table gives no price at all says
    nothing.
    """
    if pool.zones and region in table.without_zones:
        hint = f"leave them out; by the list of {table.notes.get('zones-as-of', 'the table')}"
        yield Problem(
            Message("no-availability-zones", "{region} has no availability zones", region=region),
            (*path, "zones"),
            hint,
        )
    stated = pool.hourly_price is not None or (pool.cpu is not None and pool.memory is not None)
    if not stated:
        yield from _price_problems(
            pool.vm_size, region, table, (*path, "vmSize"), "write its hourlyPrice"
        )


def hub_size_problems(
    vm_size: str, region: str, table: SizeTable, path: FieldPath
) -> Iterator[Problem]:
    """Yield problems of the VM size of a hub's node: no name of a size, not in the table, or no
    price in the region.
    """
    wrong_name = list(names.VM_SIZE.problems(vm_size, path))
    yield from wrong_name
    if not wrong_name and table.find(vm_size) is None:
        hint = (
            f"one of {', '.join(table.similar(vm_size)) or 'the table'}; a newer one needs"
            f" {_OWN_TABLE}"
        )
        yield Problem(
            Message(
                "vm-size-not-table",
                'the VM size "{vm_size}" is not in the table of sizes',
                vm_size=vm_size,
            ),
            path,
            hint,
        )
    yield from _price_problems(vm_size, region, table, path, f"use {_OWN_TABLE}")


def _price_problems(
    vm_size: str, region: str, table: SizeTable, path: FieldPath, newer: str
) -> Iterator[Problem]:
    size = table.find(vm_size)
    # A missing price says "not offered" only in a complete table, and for a region that it covers.
    if size and table.complete and region in table.priced and region not in size.prices:
        like = table.offered_like(size, region)
        instead = f"there is {', '.join(like)}; or " if like else ""
        what = Message(
            "not-offered-no-list",
            "{name} is not offered in {region}: it has no list price there as of {prices_as_of}",
            name=size.name,
            region=region,
            prices_as_of=table.prices_as_of,
        )
        yield Problem(what, path, f"{instead}{newer}, if it is newer than the list")
