"""Which function runs which subject; a subject that is not here is not built yet."""

from __future__ import annotations

from tests.conformance import karmada_scheduling, kubefleet_scheduling
from tests.karmada import cases as karmada

SUBJECTS = {
    **karmada.SUBJECTS,
    "karmada/scheduling": karmada_scheduling.run,
    "kubefleet/scheduling": kubefleet_scheduling.run,
}
