"""Speed: ``python -m tests.bench`` (or ``make bench``) prints a table and writes ``out/bench.json``.

The file maps ``"<what>-<members>"``, as in ``pickn-100``, ``pickn-spread-1000``, ``pickall-10000``, to
``{"members": n, "median_ms": x, "runs": k, "peak_mb": y}``:

* ``pickn``: PickN 10 with required and preferred terms, two property sorters among them, on a new placement;
* ``pickn-spread``: the same with one DoNotSchedule spread constraint, so 10 cycles;
* ``pickall``: PickAll with the same required terms;
* ``pickn-again``: ``pickn`` with nothing left to do;
* ``explain``: every plug-in's verdict on every member;
* ``compile``: the inventory from the members' records, which a run pays once for all its placements;
* ``schedule-100x1000``: 100 placements scheduled on one inventory of 1,000 members, compile included;
* ``plan-100x1000``: the whole plan of the same, from manifests;
* ``deliver``: the in-process plan of one placement of ten objects on every member; ``deliver-plain``: a plain program
  that registers the same resources. Their ratio and the size of the state are printed below the table;
* ``command-...``: the whole ``fleet plan`` as a process, with a state and one changed image, for 60 members and 40 apps
  and for 1,000 and 100. The processor time is printed below the table: other work on the machine counts less there;
* ``observe-200x1000``: 200 placements on 20 of 1,000 members each, read from what a hub answers and written anew;
* ``karmada-...``: see ``tests/scheduler/karmada/bench_rows.py``;
* ``growth-...``: the plan of a fleet that is large in one dimension of ``tests/growth.py``, at a size and at four times
  that size. The factor is printed below the table: 4 is linear, and 16 would be the square.

Every run starts cold, because that is what one ``fleet plan`` pays: a fresh inventory without derived columns,
and no quantity parsed before. ``peak_mb`` is the peak of traced memory of a run and of its inventory.
Words after the command choose the rows whose name contains one of them. What the real engine makes of a fleet is measured
by ``tests/engine/bench.py``.
"""

from __future__ import annotations

import gc
import json
import resource
import statistics
import sys
import tracemalloc
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from functools import cache, partial
from itertools import product
from pathlib import Path
from random import Random
from time import perf_counter
from typing import Any

import attrs

from fleet_components.model.cluster import Cluster
from fleet_components.model.codec import decode
from fleet_components.model.inventory import Inventory
from fleet_components.model.manifest import Manifest
from fleet_components.model.problem import FleetError
from fleet_components.model.quantity import parse_quantity
from fleet_components.plan.fleet import plan_fleet
from fleet_components.plan.options import Options
from fleet_components.plan.past import Past
from fleet_components.plan.source import source_of
from fleet_components.systems.kubefleet.model.member_cluster import read_member_cluster
from fleet_components.systems.kubefleet.model.memory import PlacementMemory
from fleet_components.systems.kubefleet.model.placement import PlacementPolicy
from fleet_components.systems.kubefleet.scheduler import schedule
from fleet_components.systems.kubefleet.scheduler.explain import explain
from tests.cli import bench_rows as command_rows
from tests.delivery import bench_rows as delivery_rows
from tests.growth import DIMENSIONS, FLEETS
from tests.hub import bench_rows as hub_rows
from tests.scheduler.karmada import bench_rows

OUT = Path(__file__).parents[1] / "out" / "bench.json"
SIZES = (100, 1_000, 10_000)
SECONDS_A_ROW, MIN_RUNS, MAX_RUNS = 0.7, 3, 50

Run = Callable[[], object]
SetUp = Callable[[int], Run]


@attrs.frozen
class Benchmark:
    """One row: ``set_up`` is called before every run, untimed, and returns what is timed."""

    name: str
    members: int
    set_up: SetUp


BENCHMARKS: list[Benchmark] = []


def benchmark(name: str, *sizes: int) -> Callable[[SetUp], SetUp]:
    """Register a benchmark for some numbers of members (``SIZES`` by default), as ``<name>-<members>``.

    A name that ends in ``x`` takes the number as it is: ``plan-100x`` with 1,000 is ``plan-100x1000``.
    """

    def register(set_up: SetUp) -> SetUp:
        for members in sizes or SIZES:
            BENCHMARKS.append(
                Benchmark(f"{name}{'' if name.endswith('x') else '-'}{members}", members, set_up)
            )
        return set_up

    return register


def member_clusters(members: int) -> list[dict[str, Any]]:
    """Declared members in eight regions, one in twenty tainted."""
    random = Random(members)
    return [_member(f"member-{number:05}", random) for number in range(members)]


@cache
def fleet(members: int) -> tuple[Cluster, ...]:
    """The same members, read."""
    return tuple(map(read_member_cluster, member_clusters(members)))


def _member(name: str, random: Random) -> dict[str, Any]:
    labels = {
        "fleet.azure.com/location": random.choice(REGIONS),
        "environment": random.choice(("production", "production", "staging", "test")),
        "zone": str(random.randint(1, 3)),
        "tier": random.choice(("spot", "regular")),
    }
    tainted = random.random() < 0.05
    return {
        "apiVersion": "cluster.kubernetes-fleet.io/v1",
        "kind": "MemberCluster",
        "metadata": {"name": name, "labels": labels},
        "spec": {
            "identity": {"kind": "ServiceAccount", "name": name, "namespace": "fleet-system"},
            "taints": [{"key": "dedicated", "value": "gpu", "effect": "NoSchedule"}]
            if tainted
            else [],
        },
        "status": {
            "properties": {
                NODE_COUNT: {"value": str(random.randint(1, 100))},
                COST: {"value": f"{random.uniform(0.01, 0.3):.4f}"},
            },
            "resourceUsage": _usage(random.choice((8, 16, 32, 64)), random.random()),
        },
    }


def _usage(cpu: int, free: float) -> dict[str, dict[str, str]]:
    memory = cpu * 4 * 2**20
    return {
        "capacity": {"cpu": str(cpu), "memory": f"{memory}Ki"},
        "allocatable": {"cpu": f"{cpu * 1000 - 180}m", "memory": f"{memory - 2**20}Ki"},
        "available": {"cpu": f"{int(cpu * 1000 * free)}m", "memory": f"{int(memory * free)}Ki"},
    }


REGIONS = (
    "eastus",
    "westus",
    "northeurope",
    "westeurope",
    "uksouth",
    "japaneast",
    "brazilsouth",
    "australiaeast",
)
NODE_COUNT = "kubernetes-fleet.io/node-count"
COST = "kubernetes.azure.com/per-cpu-core-cost"
AVAILABLE_MEMORY = "resources.kubernetes-fleet.io/available-memory"
REQUIRED = {
    "clusterSelectorTerms": [
        {
            "labelSelector": {"matchLabels": {"environment": "production"}},
            "propertySelector": {
                "matchExpressions": [{"name": NODE_COUNT, "operator": "Ge", "values": ["3"]}]
            },
        },
        {
            "labelSelector": {
                "matchExpressions": [{"key": "tier", "operator": "In", "values": ["regular"]}]
            }
        },
    ]
}
PREFERRED = [
    {"weight": 20, "preference": {"labelSelector": {"matchLabels": {"zone": "1"}}}},
    {
        "weight": 30,
        "preference": {"propertySorter": {"name": AVAILABLE_MEMORY, "sortOrder": "Descending"}},
    },
    {"weight": 50, "preference": {"propertySorter": {"name": COST, "sortOrder": "Ascending"}}},
]
PICK_ALL = {
    "placementType": "PickAll",
    "affinity": {"clusterAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": REQUIRED}},
}
PICK_N = {
    "placementType": "PickN",
    "numberOfClusters": 10,
    "affinity": {
        "clusterAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": REQUIRED,
            "preferredDuringSchedulingIgnoredDuringExecution": PREFERRED,
        }
    },
}
PICK_N_SPREAD = {
    **PICK_N,
    "topologySpreadConstraints": [{"topologyKey": "fleet.azure.com/location", "maxSkew": 1}],
}


@benchmark("compile")
def compiling(members: int) -> Run:
    clusters = fleet(members)
    return lambda: Inventory(clusters)


def scheduling(wire: Mapping[str, Any]) -> SetUp:
    """Set up one scheduling of a new placement."""
    policy = decode(PlacementPolicy, wire)

    def set_up(members: int) -> Run:
        inventory = Inventory(fleet(members))
        return lambda: schedule(inventory, policy)

    return set_up


benchmark("pickn")(scheduling(PICK_N))
benchmark("pickn-spread")(scheduling(PICK_N_SPREAD))
benchmark("pickall")(scheduling(PICK_ALL))


@benchmark("pickn-again")
def again(members: int) -> Run:
    policy, clusters = decode(PlacementPolicy, PICK_N), fleet(members)
    memory = schedule(Inventory(clusters), policy).memory.settled()
    inventory = Inventory(clusters)
    return lambda: schedule(inventory, policy, memory)


@benchmark("explain")
def explaining(members: int) -> Run:
    policy, inventory = decode(PlacementPolicy, PICK_N_SPREAD), Inventory(fleet(members))
    decision = schedule(inventory, policy)
    return lambda: explain(inventory, policy, decision)


@benchmark("schedule-100x", 1_000)
def scheduling_many(members: int) -> Run:
    clusters = fleet(members)
    policies = [decode(PlacementPolicy, _policy(number)) for number in range(100)]

    def run() -> list[PlacementMemory]:
        inventory = Inventory(clusters)
        return [schedule(inventory, policy).memory for policy in policies]

    return run


@benchmark("plan-100x", 1_000)
def planning(members: int) -> Run:
    manifests = [Manifest(data) for data in member_clusters(members)]
    manifests += [Manifest(data) for number in range(100) for data in _placed(number)]

    return lambda: plan_fleet(source_of(manifests), Past(), Options())


def _policy(number: int) -> dict[str, Any]:
    """One of three forms, each with a number of its own."""
    policy = (PICK_N, PICK_N_SPREAD, PICK_ALL)[number % 3]
    return {**policy, "numberOfClusters": 1 + number} if "numberOfClusters" in policy else policy


def _placed(number: int) -> list[dict[str, Any]]:
    """A namespace with a Deployment, and its placement."""
    name = f"app-{number:03}"
    selector = {"group": "", "version": "v1", "kind": "Namespace", "name": name}
    pod = {
        "metadata": {"labels": {"app": name}},
        "spec": {"containers": [{"name": "app", "image": "nginx:1.27"}]},
    }
    return [
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}},
        {
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": {"name": "app", "namespace": name},
            "spec": {"replicas": 2, "selector": {"matchLabels": {"app": name}}, "template": pod},
        },
        {
            "apiVersion": "placement.kubernetes-fleet.io/v1",
            "kind": "ClusterResourcePlacement",
            "metadata": {"name": name},
            "spec": {"resourceSelectors": [selector], "policy": _policy(number)},
        },
    ]


def growing(objects: Callable[[int], Iterator[Mapping[str, Any]]]) -> SetUp:
    """Set up the plan of a fleet of a size in one dimension; a plan that is refused costs as much to read."""

    def set_up(size: int) -> Run:
        manifests = list(map(Manifest, objects(size)))

        def run() -> None:
            with suppress(FleetError):
                plan_fleet(source_of(manifests), Past(), Options())

        return run

    return set_up


GROWTH = (100, 400)
for _name, _objects in DIMENSIONS.items():
    benchmark(f"growth-{_name}", *GROWTH)(growing(_objects))
for _name, _set_up in bench_rows.ROWS.items():
    benchmark(_name)(_set_up)
for _name, _set_up in delivery_rows.ROWS.items():
    benchmark(_name, *delivery_rows.MEMBERS)(_set_up)
benchmark("observe-200x", 1_000)(hub_rows.observe)
for _system in FLEETS:
    for _members, _apps in command_rows.SIZES:
        benchmark(f"command-{_system}-{_apps}x", _members)(
            partial(command_rows.plan, _system, apps=_apps)
        )


def measure(row: Benchmark) -> dict[str, float]:
    """Run one benchmark; its entry in the file."""
    times = list(_times(row))
    return {
        "members": row.members,
        "median_ms": round(statistics.median(times) * 1000, 3),
        "runs": len(times),
        "peak_mb": round(_peak(row) / 2**20, 1),
    }


def _times(row: Benchmark) -> Iterator[float]:
    began, runs = perf_counter(), 0
    while runs < MIN_RUNS or (perf_counter() - began < SECONDS_A_ROW and runs < MAX_RUNS):
        run = _cold(row)
        start = perf_counter()
        run()
        yield perf_counter() - start
        runs += 1


def _cold(row: Benchmark) -> Run:
    run = row.set_up(row.members)
    parse_quantity.cache_clear()
    gc.collect()
    return run


def _peak(row: Benchmark) -> int:
    tracemalloc.start()
    _cold(row)()
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return peak


def main(words: list[str]) -> None:
    """Measure every benchmark, or those whose name contains one of these words."""
    print(f"{'':32}{'members':>8}{'median ms':>12}{'runs':>6}{'peak MB':>10}")
    measured = {}
    for row in BENCHMARKS:
        if not words or any(word in row.name for word in words):
            entry = measured[row.name] = measure(row)
            figures = f"{entry['median_ms']:>12.2f}{entry['runs']:>6}{entry['peak_mb']:>10.1f}"
            print(f"{row.name:32}{row.members:>8,}{figures}", flush=True)
    for members in delivery_rows.MEMBERS:
        if f"deliver-plain-{members}" in measured:
            ratio = (
                measured[f"deliver-{members}"]["median_ms"]
                / measured[f"deliver-plain-{members}"]["median_ms"]
            )
            size = delivery_rows.state_kilobytes(members)
            print(
                f"{members} members x {delivery_rows.OBJECTS} objects: {ratio:.2f} x plain, state of {size} kB"
            )
    for system, (members, apps) in product(FLEETS, command_rows.SIZES):
        if (name := f"command-{system}-{apps}x{members}") in measured:
            print(f"{name}: {command_rows.told(system, members, apps)}")
    for name in DIMENSIONS:
        small, large = (measured.get(f"growth-{name}-{size}") for size in GROWTH)
        if small and large:
            print(
                f"{name:24} {GROWTH[1] // GROWTH[0]} x as large: {large['median_ms'] / small['median_ms']:5.1f} x"
            )
    OUT.parent.mkdir(exist_ok=True)
    OUT.write_text(json.dumps(measured, indent=2) + "\n")
    print(
        f"peak memory of the whole process: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB"
    )


if __name__ == "__main__":
    main(sys.argv[1:])
