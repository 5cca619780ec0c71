"""The program that becomes a sandbox: namespaces, root, identity, limits, one command, collection.

It runs as `python -I -S`, one process a sandbox, and so imports the standard library alone. It is trusted code; the
command it starts is not. Nothing here may import from the rest of the project.

Three processes: the *supervisor* (`main.py`) keeps a view of the host and of the sandbox's files, watches limits and
collects; *init* (`init.py`) is process 1 inside, and its end takes every descendant along; the *command* is hostile.

For a prefork server init is the *fork server* (`server.py`), which keeps (`keeper.py`) and places (`job.py`) jobs; the
*warm interpreter* (`prefork.py`) is as hostile as the packages it imports, and enters a job's place through `gate.py`.
"""
