"""Hubs and members on Azure."""
