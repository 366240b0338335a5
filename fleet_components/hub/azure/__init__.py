"""A fleet of Azure Fleet Manager as the resource API reports it: members, update runs and what
starts them. Makes no request.
"""
