"""The output of ``fleet render``: its files, and the folder that they replace."""
