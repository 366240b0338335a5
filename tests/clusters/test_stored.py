"""Random objects of every built-in kind, as a real API server stores them and as we say that it
does.
"""

from __future__ import annotations

import random
import re
import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from fleet_components.content.difference import differences
from fleet_components.content.stored import stored
from fleet_components.live.connection import Connection, UnexpectedAnswer, connected
from fleet_components.model.kinds import BUILT_IN
from fleet_components.model.manifest import Manifest
from tests.control_planes import control_planes
from tools.defaults.__main__ import create, objects_of_every_type

pytestmark = pytest.mark.clusters

ROUNDS = 4
ASSIGNED = re.compile(
    r"metadata\.(creationTimestamp|generation|managedFields|resourceVersion|uid)"
    r"|status\b.*"
    # Admission plug-ins of an ordinary cluster, which a control plane of Karmada does not have.
    r"|metadata\.finalizers|Pod:spec\.(serviceAccount|serviceAccountName)"
    # What stands for these is as good as any value.
    r"|.*(controller-uid\]?|healthCheckNodePort|\.nodePort)"
    r"|ResourceSlice:.*timeAdded"
    # Who asks.
    r"|CertificateSigningRequest:spec\.(extra|groups|username)"
)
"""Fields that an API server assigns, which no written object can tell."""
NOT_SELECTED = ("Node",)
"""Kinds that no placement of either system sends to a member."""


@pytest.fixture(scope="module")
def server() -> Iterator[Connection]:
    with control_planes("a") as planes:
        text = planes["a"].kubeconfig.read_text()
        with connected(text, time.monotonic() + 1200, sys.maxsize) as connection:
            yield connection


def thinned(value: Any, rng: random.Random, share: float) -> Any:
    """A value without a share of its fields and items; what every object needs stays."""
    if isinstance(value, dict):
        needed = (
            "apiVersion",
            "kind",
            "metadata",
            "name",
            "namespace",
            "matchLabels",
            "template",
            "spec",
        )
        kept = {key: item for key, item in value.items() if key in needed or rng.random() > share}
        return {key: thinned(item, rng, share) for key, item in kept.items()}
    if isinstance(value, list):
        return [thinned(item, rng, share) for item in value if rng.random() > share / 2]
    return value


def unlike(answer: Mapping[str, Any], ours: Mapping[str, Any]) -> Iterator[str]:
    kind = str(answer["kind"])
    for item in differences(ours, answer):
        known = ASSIGNED.fullmatch(item.field) or ASSIGNED.fullmatch(f"{kind}:{item.field}")
        if not known and not _of_token(item.new):
            yield f"{kind}: {item.field}: {item.old!r}, but stored is {item.new!r}"


def _of_token(value: Any) -> bool:
    return "kube-api-access-" in str(value)


def test_every_built_in_kind_is_tried() -> None:
    tried = {(Manifest(data).group, data["kind"]) for data in objects_of_every_type()}
    served = {
        key for key in BUILT_IN if not key[0].endswith((".io", ".com")) or key[0].endswith("k8s.io")
    }
    missing = {kind for group, kind in served - tried if group != "metrics.k8s.io"}
    reviews = {kind for kind in missing if kind.endswith("Review")}
    assert missing - reviews == {
        "Binding",
        "ClusterTrustBundle",  # an API that is off
        "ComponentStatus",
        "DeviceTaintRule",
        "Event",
        "LeaseCandidate",
        "PodCertificateRequest",
        "StorageVersionMigration",
    }


AMOUNTS = (
    *(
        "0",
        "00",
        "0.0",
        "0Ki",
        "1",
        "+1",
        "01",
        "-1",
        "10",
        "100",
        "999",
        "1000",
        "1000.0",
        "1500",
        "123456789",
    ),
    *(
        "1000m",
        "1500m",
        "0.5",
        ".5",
        "5.",
        "1.05",
        "1.050",
        "1.500",
        "2.000",
        "1e3",
        "1E3",
        "12e1",
        "1e-3",
        "1.5e6",
    ),
    *("100e20", "1e21", "1n"),
    *(
        "0.1n",
        "1.1n",
        "1000n",
        "1u",
        "1000u",
        "100k",
        "1000k",
        "1.5k",
        "0.001k",
        "1M",
        "1500M",
        "1E",
        "0.5E",
    ),
    *(
        "1Ki",
        "1023",
        "1024",
        "1024Ki",
        "1.5Ki",
        "0.5Ki",
        "0.5Mi",
        "1.001Ki",
        "1536Mi",
        "1Gi",
        "2048Gi",
        "1Ei",
    ),
    *(
        "7Ei",
        "8Ei",
        "1000Ki",
        "-1024Ki",
        "-1Ki",
        "0.0001Ki",
        "9223372036854775807",
        "10000000000000000000",
    ),
)
"""Quantities, one of them for each rule of how they are written."""


def test_quantities_are_stored_as_we_say(server: Connection) -> None:
    wrong = list[str]()
    for text in AMOUNTS:
        limit = {"type": "Pod", "max": {"example.com/a": text}}
        volume = {"name": "v", "emptyDir": {"sizeLimit": text}}
        for kind, spec in (
            ("LimitRange", {"limits": [limit]}),
            ("Pod", {"volumes": [volume], "containers": [{"name": "c", "image": "web:1"}]}),
        ):
            metadata = {"name": "it", "namespace": "default"}
            data = {"apiVersion": "v1", "kind": kind, "metadata": metadata, "spec": spec}
            if kind == "LimitRange" or not text.startswith("-"):
                wrong += unlike(create(server, data), stored(data))
    assert wrong == []


@pytest.mark.parametrize("number", range(ROUNDS))
def test_random_objects_are_stored_as_we_say(server: Connection, number: int) -> None:
    rng, accepted, wrong = random.Random(number), Counter[str](), list[str]()
    for data in objects_of_every_type():
        for share in (0.0 if number == 0 else 0.05, 0.1, 0.2, 0.4):
            written = thinned(data, rng, share)
            try:
                answer = create(server, written)
            except UnexpectedAnswer:
                continue  # it is not valid without what was taken out
            accepted[data["kind"]] += 1
            if data["kind"] not in NOT_SELECTED:
                wrong += unlike(answer, stored(written))
    assert wrong == []
    if number == 0:
        assert accepted.keys() == {data["kind"] for data in objects_of_every_type()}
