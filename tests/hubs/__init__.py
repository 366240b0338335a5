"""Real hubs and the real agents of their members, on control planes of this machine.

On Linux a control plane takes 8 of the kernel's ``fs.inotify.max_user_instances``, which are 128 unless somebody raises
them: an agent that ends with "too many open files" waits for
others that run on the machine.
"""
