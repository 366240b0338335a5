"""What a command line names, planned: directories of YAML, or the program of a Pulumi project."""
