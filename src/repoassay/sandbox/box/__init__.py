"""Boxes: sandboxes that a program of somebody else sets up, in which our own server runs commands over one pipe.

What sets a box up (bubblewrap, a container engine, `kubectl`) starts one Python process in it and connects its
standard input and output with this process. Over these go, as frames (`frames.py`), first our code (`boot.py`), then
what is to be done. `server.py`, `layout.py`, `child.py`, `export.py` and `connections.py` run inside, with the standard
library and `launcher/` alone; `plan.py`, `session.py`, `requests.py`, `relay.py` and `box.py` are the host's side.

The server inside is trusted as process 1 of the default sandbox is, and for the same reasons: it has another account or
more rights than commands, which can neither look into it nor end it. But its end of the pipe is read as hostile.
"""
