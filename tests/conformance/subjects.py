"""Which function runs which subject; a subject that is not here is not built yet."""

from __future__ import annotations

from tests.conformance import kubefleet_scheduling

SUBJECTS = {
    "kubefleet/scheduling": kubefleet_scheduling.run,
}
