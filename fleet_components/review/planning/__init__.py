"""Planning of the inputs of a command line: directories of YAML, or the program of a Pulumi
project.
"""
