"""What is known to differ from the recordings of KubeFleet, and why."""

from __future__ import annotations

from tests.delivery.replay import Known

KNOWN: tuple[Known, ...] = ()
