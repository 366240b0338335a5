"""Updates of a Pulumi project on the real engine, one after the other, until nothing is left."""
