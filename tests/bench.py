"""Speed: ``python -m tests.bench`` (or ``make bench``) prints a table and writes ``out/bench.json``.

The file maps ``"<what>-<members>"``, as in ``pickn-100``, ``pickn-spread-1000``, ``pickall-10000``, to
``{"members": n, "median_ms": x, "runs": k, "peak_mb": y}``:

* ``pickn``: PickN 10 with required and preferred terms, two property sorters among them, on a new placement;
* ``pickn-spread``: the same with one DoNotSchedule spread constraint, so 10 cycles;
* ``pickall``: PickAll with the same terms;
* ``pickn-again``: ``pickn`` with nothing left to do;
* ``explain``: every plug-in's verdict on every member;
* ``compile``: the inventory from the members' records, which a run pays once for all its placements;
* ``karmada-divided``, ``karmada-duplicated``, ``karmada-aggregated``: a new template of as many replicas as members;
* ``plan-100x1000``: 100 placements on one inventory of 1,000 members, compile included.

Every run starts cold, because that is what one ``fleet plan`` pays: a fresh inventory without derived columns,
and no quantity parsed before. ``peak_mb`` is the peak of traced memory of a run and of what it was set up with.
"""

from __future__ import annotations

import gc
import json
import resource
import statistics
import sys
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from time import perf_counter

import attrs

from fleet_components.model.cluster import Cluster, Taint, Usage
from fleet_components.model.codec import decode
from fleet_components.model.inventory import Inventory
from fleet_components.model.memory import PlacementMemory
from fleet_components.model.placement import PlacementPolicy, TopologySpreadConstraint
from fleet_components.model.quantity import parse_quantity
from fleet_components.scheduler.kubefleet import schedule
from fleet_components.scheduler.kubefleet.explain import explain
from tests.karmada_scheduling.bench_rows import ROWS as KARMADA_ROWS

OUT = Path(__file__).parents[1] / "out" / "bench.json"
SIZES = (100, 1_000, 10_000)
SECONDS_A_ROW, MIN_RUNS, MAX_RUNS = 1.5, 5, 50

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
    """Register a benchmark for some numbers of members (``SIZES`` by default), as ``<name>-<members>``."""

    def register(set_up: SetUp) -> SetUp:
        BENCHMARKS.extend(Benchmark(f"{name}-{members}", members, set_up) for members in sizes or SIZES)
        return set_up

    return register


def fleet(members: int) -> list[Cluster]:
    """Declared members in eight regions, one in twenty tainted."""
    random = Random(members)
    return [_member(f"member-{number:05}", random) for number in range(members)]


def _member(name: str, random: Random) -> Cluster:
    cpu = random.choice((8, 16, 32, 64))
    memory, free = cpu * 4 * 2**20, random.random()
    return Cluster(
        name,
        labels={
            "fleet.azure.com/location": random.choice(REGIONS),
            "environment": random.choice(("production", "production", "staging", "test")),
            "zone": str(random.randint(1, 3)),
            "tier": random.choice(("spot", "regular")),
        },
        taints=(Taint("dedicated", "gpu"),) if random.random() < 0.05 else (),
        properties={
            "kubernetes-fleet.io/node-count": str(random.randint(1, 100)),
            "kubernetes.azure.com/per-cpu-core-cost": f"{random.uniform(0.01, 0.3):.4f}",
        },
        usage=Usage(
            capacity={"cpu": str(cpu), "memory": f"{memory}Ki"},
            allocatable={"cpu": f"{cpu * 1000 - 180}m", "memory": f"{memory - 2**20}Ki"},
            available={"cpu": f"{int(cpu * 1000 * free)}m", "memory": f"{int(memory * free)}Ki"},
        ),
    )


REGIONS = ("eastus", "westus", "northeurope", "westeurope", "uksouth", "japaneast", "brazilsouth", "australiaeast")
NODE_COUNT = "kubernetes-fleet.io/node-count"
AFFINITY = {
    "clusterAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": {
            "clusterSelectorTerms": [
                {
                    "labelSelector": {"matchLabels": {"environment": "production"}},
                    "propertySelector": {
                        "matchExpressions": [{"name": NODE_COUNT, "operator": "Ge", "values": ["3"]}]
                    },
                },
                {"labelSelector": {"matchExpressions": [{"key": "tier", "operator": "In", "values": ["regular"]}]}},
            ]
        },
        "preferredDuringSchedulingIgnoredDuringExecution": [
            {"weight": 20, "preference": {"labelSelector": {"matchLabels": {"zone": "1"}}}},
            {
                "weight": 30,
                "preference": {
                    "propertySorter": {
                        "name": "resources.kubernetes-fleet.io/available-memory",
                        "sortOrder": "Descending",
                    }
                },
            },
            {
                "weight": 50,
                "preference": {
                    "propertySorter": {"name": "kubernetes.azure.com/per-cpu-core-cost", "sortOrder": "Ascending"}
                },
            },
        ],
    }
}
PICK_N = decode(PlacementPolicy, {"placementType": "PickN", "numberOfClusters": 10, "affinity": AFFINITY})
SPREAD = attrs.evolve(
    PICK_N, topology_spread_constraints=(TopologySpreadConstraint("fleet.azure.com/location", max_skew=1),)
)
PICK_ALL = decode(PlacementPolicy, {"placementType": "PickAll", "affinity": AFFINITY})


@benchmark("compile")
def compiling(members: int) -> Run:
    clusters = fleet(members)
    return lambda: Inventory(clusters)


def scheduling(policy: PlacementPolicy) -> SetUp:
    """Set up one scheduling of a new placement."""

    def set_up(members: int) -> Run:
        inventory = Inventory(fleet(members))
        return lambda: schedule(inventory, policy)

    return set_up


benchmark("pickn")(scheduling(PICK_N))
benchmark("pickn-spread")(scheduling(SPREAD))
benchmark("pickall")(scheduling(PICK_ALL))


@benchmark("pickn-again")
def again(members: int) -> Run:
    memory = schedule(Inventory(fleet(members)), PICK_N).memory.settled()
    inventory = Inventory(fleet(members))
    return lambda: schedule(inventory, PICK_N, memory)


@benchmark("explain")
def explaining(members: int) -> Run:
    decision = schedule(Inventory(fleet(members)), SPREAD)
    inventory = Inventory(fleet(members))
    return lambda: explain(inventory, SPREAD, decision)


for _name, _set_up in KARMADA_ROWS.items():
    benchmark(_name)(_set_up)


@benchmark("plan-100x", 1_000)
def planning(members: int) -> Run:
    """A whole plan; for now its scheduling only."""
    clusters = fleet(members)
    policies = [_varied(number) for number in range(100)]

    def plan() -> list[PlacementMemory]:
        inventory = Inventory(clusters)
        return [schedule(inventory, policy).memory for policy in policies]

    return plan


def _varied(number: int) -> PlacementPolicy:
    policy = (PICK_N, SPREAD, PICK_ALL)[number % 3]
    return attrs.evolve(policy, number_of_clusters=1 + number) if policy is not PICK_ALL else policy


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
    spent, runs = 0.0, 0
    while runs < MIN_RUNS or (spent < SECONDS_A_ROW and runs < MAX_RUNS):
        began = perf_counter()
        run = _cold(row)
        start = perf_counter()
        run()
        yield perf_counter() - start
        spent, runs = spent + perf_counter() - began, runs + 1


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


def main(only: list[str]) -> None:
    """Measure every benchmark, or those whose name contains one of these words."""
    rows = [row for row in BENCHMARKS if not only or any(word in row.name for word in only)]
    print(f"{'':20}{'members':>10}{'median ms':>12}{'runs':>6}{'peak MB':>10}")
    measured = {}
    for row in rows:
        entry = measured[row.name] = measure(row)
        print(f"{row.name:20}{row.members:>10,}{entry['median_ms']:>12.2f}{entry['runs']:>6}{entry['peak_mb']:>10.1f}")
    OUT.parent.mkdir(exist_ok=True)
    OUT.write_text(json.dumps(measured, indent=2) + "\n")
    print(f"peak memory of the whole process: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB")


if __name__ == "__main__":
    main(sys.argv[1:])
