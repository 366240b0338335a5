"""Real hubs and the real agents of their members, on control planes of this machine.

On Linux a control plane takes 8 of the kernel's ``fs.inotify.max_user_instances``, which are often 128: 15 of them are
all that run at a time, and the hub agent ends with "too many open files" until others have ended.
"""
