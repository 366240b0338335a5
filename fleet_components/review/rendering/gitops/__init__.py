"""Objects that Argo CD and Flux need beside rendered manifests, so that clusters pull them in the
order of a plan.
"""
