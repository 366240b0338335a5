"""Entry point of ``python -m fleet_components.cli``."""

from fleet_components.cli import main

main()
