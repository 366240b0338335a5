"""What ``pulumi up`` runs."""

from program import program

program()
