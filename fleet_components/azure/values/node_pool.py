"""Declaration of a node pool of an AKS cluster."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import attrs

from fleet_components.azure.values import checks, names
from fleet_components.azure.values.arm_id import SUBNET, resource_problems
from fleet_components.azure.values.pool_upgrade import PoolUpgrade
from fleet_components.azure.values.vm_size import SizeTable, VmSize
from fleet_components.model.cluster import NO_LABELS, Taint
from fleet_components.model.message import Message
from fleet_components.model.problem import FieldPath, Problem
from fleet_components.model.quantity import is_quantity, parse_quantity
from fleet_components.model.typed import Later, Typed

SYSTEM, USER = "System", "User"
_EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")
_OS_DISKS = ("Ephemeral", "Managed")
_OS_SKUS = ("Ubuntu", "Ubuntu2204", "AzureLinux", "AzureLinux3")
_ZONES = ("1", "2", "3")
_MOST_NODES = 1000
# The least that a node may have: one core and 1 MiB, which are the units of VmSize.
_CHOICES = {"cpu": parse_quantity("1"), "memory": parse_quantity("1Mi")}
_RESERVED_LABELS = ("kubernetes.azure.com/", "kubernetes.io/")
"""Source: "Use labels in an AKS cluster", section on reserved prefixes (Microsoft, 2026-08)."""

_SPOT_KEY, _SPOT_VALUE = "kubernetes.azure.com/scalesetpriority", "spot"
_SPOT_TAINT = Taint(_SPOT_KEY, _SPOT_VALUE)


@attrs.frozen
class NodePool(Typed):
    """A node pool: a number of nodes of one VM size.

    These can only be set when a pool is created: name, VM size, zones, spot, OS disk, pods per
    node, subnets.

    Attributes:
        name: 1 to 12 lower-case letters and digits.
        vm_size: the VM size, for example ``Standard_D4s_v5``.
        count: a fixed number of nodes; alternatively, ``min_count`` and ``max_count`` let the
            autoscaler choose.
        min_count: the minimum number of nodes; a new pool starts with it.
        max_count: the maximum number of nodes.
        mode: ``System`` (runs what the cluster itself needs) or ``User``, the default.
        zones: availability zones of the region; empty for none.
        labels: labels of every node.
        taints: taints of every node.
        spot: machines that Azure may take back at any time, at a lower price; not for system pools.
            Azure adds the taint ``kubernetes.azure.com/scalesetpriority=spot:NoSchedule`` and the
            label of that key; declared here, they are taken and not sent.
        os_disk: ``Ephemeral`` or ``Managed``; None lets Azure choose.
        os_disk_gib: size of the OS disk in GiB; None for Azure's default.
        os_sku: ``Ubuntu`` (Azure's default), ``AzureLinux``, ...
        max_pods: pods per node, 10 to 250, and 30 in the whole pool; None for the default of the
            network plugin.
        subnet: the subnet's ID; None for the cluster's. A Pulumi output is accepted.
        tags: Azure tags, 50 at most.
        cpu: CPU of a node, as a quantity, for a VM size that is not in the table; used only
            together with ``memory``.
        memory: memory of a node, as a quantity, for a VM size that is not in the table; used only
            together with ``cpu``.
        hourly_price: USD per hour for a node; None for the list price.
        pod_subnet: the ID of the pods' subnet; None for addresses by the network's rules. Every
            pool of the cluster has one, or none has. A Pulumi output is accepted.
        upgrade: how nodes are replaced in an upgrade; None leaves it to Azure.
    """

    name: str
    vm_size: str
    count: int | None = None
    min_count: int | None = None
    max_count: int | None = None
    mode: str = USER
    zones: tuple[str, ...] = ()
    labels: Mapping[str, str] = NO_LABELS
    taints: tuple[Taint, ...] = ()
    spot: bool = False
    os_disk: str | None = None
    os_disk_gib: int | None = None
    os_sku: str | None = None
    max_pods: int | None = None
    subnet: str | Later | None = None
    tags: Mapping[str, str] = NO_LABELS
    cpu: str | None = None
    memory: str | None = None
    hourly_price: float | None = None
    pod_subnet: str | Later | None = None
    upgrade: PoolUpgrade | None = None

    @property
    def sent_labels(self) -> dict[str, str]:
        """The labels that Azure does not add by itself."""
        return {
            key: value for key, value in self.labels.items() if not self._is_spot_label(key, value)
        }

    @property
    def sent_taints(self) -> tuple[Taint, ...]:
        """The taints that Azure does not add by itself (Microsoft, "Add a Spot node pool to an AKS
        cluster").
        """
        return tuple(taint for taint in self.taints if not (self.spot and taint == _SPOT_TAINT))

    def _is_spot_label(self, key: str, value: str) -> bool:
        return self.spot and (key, value) == (_SPOT_KEY, _SPOT_VALUE)

    @property
    def autoscaled(self) -> bool:
        """True if the autoscaler chooses the number of nodes."""
        return self.min_count is not None

    @property
    def nodes(self) -> int:
        """The number of nodes of a new pool."""
        # None only in a declaration that is refused as unclear.
        return (self.min_count if self.autoscaled else self.count) or 0

    @property
    def most_nodes(self) -> int:
        """The maximum number of nodes."""
        return (self.max_count if self.autoscaled else self.count) or 0

    def size(self, table: SizeTable) -> VmSize | None:
        """Return the VM size: as declared if both CPU and memory are, else from the table; None if
        unknown.
        """
        known = table.find(self.vm_size)
        if self.cpu is None or self.memory is None:
            return known
        # A quantity is a number of billionths.
        vcpus, mebibytes = (
            parse_quantity(self.cpu).nano // 10**9,
            parse_quantity(self.memory).nano // (2**20 * 10**9),
        )
        return VmSize(
            known.name if known else self.vm_size,
            vcpus,
            mebibytes,
            prices=known.prices if known else {},
        )

    def price(self, region: str, table: SizeTable) -> float | None:
        """Return the price of a node in USD per hour: as declared, else the on-demand list price;
        None if unknown.
        """
        if self.hourly_price is not None:
            return self.hourly_price
        size = self.size(table)
        return size.prices.get(region) if size else None

    def problems(self, table: SizeTable, path: FieldPath) -> Iterator[Problem]:
        """Yield Azure validation errors, a VM size that is not in the table included."""
        yield from names.NODE_POOL.problems(self.name, (*path, "name"))
        yield from self._size_problems(table, path)
        yield from checks.choice_of(self.mode, (SYSTEM, USER), (*path, "mode"))
        yield from self._count_problems(path)
        yield from self._zone_problems((*path, "zones"))
        yield from checks.labels(self.sent_labels, _RESERVED_LABELS, (*path, "labels"))
        yield from checks.taints(self.taints, _EFFECTS, (*path, "taints"))
        yield from checks.tags(self.tags, (*path, "tags"))
        if self.subnet is not None:
            yield from resource_problems(self.subnet, SUBNET, (*path, "subnet"))
        if self.spot and self.mode == SYSTEM:
            yield Problem(
                Message("system-pool-cannot-spot", "a system pool cannot be spot"),
                (*path, "spot"),
                "leave it out, or use a user pool",
            )
        yield from self._node_problems(path)
        if self.upgrade is not None:
            yield from self.upgrade.problems(self.mode == SYSTEM, (*path, "upgrade"))

    def _size_problems(self, table: SizeTable, path: FieldPath) -> Iterator[Problem]:
        wrong_name = list(names.VM_SIZE.problems(self.vm_size, (*path, "vmSize")))
        wrong_amounts = [
            Problem(
                Message(
                    "not-amount", '"{text}" is not an amount of {field}', text=text, field=field
                ),
                (*path, field),
                f"a quantity, for example {example}",
            )
            for field, text, example in (("cpu", self.cpu, "4"), ("memory", self.memory, "16Gi"))
            if text is not None
            and not (is_quantity(text) and parse_quantity(text) >= _CHOICES[field])
        ]
        yield from wrong_name + wrong_amounts
        # A misspelt name or amount is one problem: that the size is unknown follows from it.
        if not wrong_name and not wrong_amounts and self.size(table) is None:
            near = ", ".join(table.similar(self.vm_size))
            hint = "write its cpu: and memory:, as in cpu: 4 and memory: 16Gi" + (
                f"; or did you mean {near}" if near else ""
            )
            yield Problem(
                Message(
                    "vm-size-not-table",
                    'the VM size "{vm_size}" is not in the table of sizes',
                    vm_size=self.vm_size,
                ),
                (*path, "vmSize"),
                hint,
            )
        # The comparison is false for NaN, too, which YAML can write.
        if self.hourly_price is not None and not 0 <= self.hourly_price < float("inf"):
            yield Problem(
                Message(
                    "hourly-price-not-price",
                    "{hourly_price} is not a price",
                    hourly_price=self.hourly_price,
                ),
                (*path, "hourlyPrice"),
                "USD an hour, as in 0.192",
            )

    def _count_problems(self, path: FieldPath) -> Iterator[Problem]:
        # Either ``count`` alone, or both limits of the autoscaler.
        given = (self.count is not None, self.min_count is not None, self.max_count is not None)
        if given not in ((True, False, False), (False, True, True)):
            yield Problem(
                Message("number-nodes-not-clear", "the number of nodes is not clear"),
                (*path, "count"),
                "either count: 3, or minCount: 3 and maxCount: 9",
            )
        # An autoscaled user pool may shrink to no node, but must be able to grow to one.
        fewest = 1 if self.mode == SYSTEM else 0
        for field, number in (
            ("count", self.count),
            ("minCount", self.min_count),
            ("maxCount", self.max_count),
        ):
            yield from checks.in_range(
                number, max(fewest, int(field == "maxCount")), _MOST_NODES, (*path, field)
            )
        if (
            self.min_count is not None
            and self.max_count is not None
            and self.min_count > self.max_count
        ):
            yield Problem(
                Message(
                    "mincount-above-maxcount",
                    "minCount {min_count} is above maxCount {max_count}",
                    min_count=self.min_count,
                    max_count=self.max_count,
                ),
                (*path, "minCount"),
                "swap the two",
            )

    def _zone_problems(self, path: FieldPath) -> Iterator[Problem]:
        for position, zone in enumerate(self.zones):
            yield from checks.choice_of(zone, _ZONES, (*path, position))
        if len(set(self.zones)) != len(self.zones):
            yield Problem(
                Message("zone-named-twice", "a zone is named twice"), path, "name each once"
            )

    def _node_problems(self, path: FieldPath) -> Iterator[Problem]:
        if self.os_disk is not None:
            yield from checks.choice_of(self.os_disk, _OS_DISKS, (*path, "osDisk"))
        if self.os_sku is not None:
            yield from checks.choice_of(self.os_sku, _OS_SKUS, (*path, "osSku"))
        yield from checks.in_range(self.os_disk_gib, 30, 2048, (*path, "osDiskGib"))
        yield from checks.in_range(self.max_pods, 10, 250, (*path, "maxPods"))
