"""An observation as a directory, made to be committed: written, brought up to date, and read
back.
"""
