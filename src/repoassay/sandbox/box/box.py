"""What sandboxes have in common whose sessions are boxes: a command is run by opening a session for it alone."""

from __future__ import annotations

import contextlib
import subprocess
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from repoassay.errors import InfraFault
from repoassay.sandbox.box.plan import BoxPlan, plan_box
from repoassay.sandbox.box.process import RunningBox
from repoassay.sandbox.box.session import BoxSession
from repoassay.sandbox.cache import remove_tree
from repoassay.sandbox.capabilities import SandboxCapabilities
from repoassay.sandbox.port_forward import check_doors
from repoassay.sandbox.protocol import Command, Completed, SandboxSetup
from repoassay.sandbox.scratch import make_temporary
from repoassay.sandbox.session import work_outside
from repoassay.sandbox.supervisor import end_supervisor

__all__ = ["BoxSandbox", "start_process"]


class BoxSandbox:
    """A sandbox but for how its boxes are started."""

    name: str
    capabilities: SandboxCapabilities
    network_is_private = True

    def run(self, command: Command, cancel: threading.Event | None = None) -> Completed:
        """Run one command to its end; see `Sandbox`."""
        if command.outside is not None:
            return work_outside(self, command, cancel)
        with self.open(command, cancel) as session:
            done = session.perform_command(command)
            whole = session.close()
        peak = max(whole.exit.peak_memory or 0, done.exit.peak_memory or 0)
        exit_ = done.exit.model_copy(update={"peak_memory": peak})
        return Completed(exit_, done.stdout, done.stderr, done.channel, whole.rejected)

    def open(self, setup: SandboxSetup, cancel: threading.Event | None = None) -> BoxSession:
        """Open a session; see `Sandbox`."""
        check_doors(setup.doors)
        for each in setup.collect:
            each.into.mkdir(parents=True, exist_ok=True)
        stack = contextlib.ExitStack()
        try:
            folder = make_temporary("box")
            stack.callback(remove_tree, folder)
            plan = plan_box(setup).with_files(folder)
            folder.chmod(0o755)
            box, spec = self.start(plan, folder, stack)
            session = BoxSession(setup, box, spec, cancel, stack)
            session.await_start()
        except BaseException:  # Ctrl-C, say, while the session is made: then nobody else has the stack
            stack.close()
            raise
        return session

    def start(self, plan: BoxPlan, folder: Path, stack: contextlib.ExitStack) -> tuple[RunningBox, dict[str, Any]]:
        """Start a box; returns it and what its server is told. Raises `InfraFault` when that cannot be.

        Args:
            plan: What is to be in it.
            folder: A folder of the host for this box, which may be mounted, and goes with it.
            stack: Takes what undoes the start; closed once the box's process has ended, or at an exception.
        """
        raise NotImplementedError


def start_process(
    stack: contextlib.ExitStack, argv: Sequence[str], env: Mapping[str, str] | None = None
) -> subprocess.Popen[bytes]:
    """Start what sets a box up, to be ended by `stack`; raises `InfraFault` when the program is not there."""
    try:
        process = subprocess.Popen(
            list(argv),
            bufsize=0,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=None if env is None else dict(env),
            cwd="/",
            start_new_session=True,
        )
    except OSError as error:
        raise InfraFault(f"The sandbox could not be started: {argv[0]}: {error.strerror}.") from error
    stack.callback(end_supervisor, process)
    return process
