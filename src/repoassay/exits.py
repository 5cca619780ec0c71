"""How our programs end: every error as one sentence and an exit code, and nothing as a traceback.

Ctrl-C is a flag that a loop reads between two records. A KeyboardInterrupt may be raised in any line of the main
thread. In a callback of a serializer written in C or Rust it comes out as another exception, and in the middle of a
write it leaves half a record.

SIGTERM, by which supervisors and CI end a program, gives up what is under way like the last Ctrl-C, so that temporary
folders and control groups go with it. A second one ends the program at once.
"""

from __future__ import annotations

import contextlib
import errno
import os
import signal
import sys
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, NoReturn

import click

from repoassay.errors import Interrupted, MissingExtra, RepoAssayError, Terminated
from repoassay.json_output import print_failure

if TYPE_CHECKING:
    import threading
    from pathlib import Path
    from types import FrameType

__all__ = ["UNEXPECTED", "discard_output", "exit_with", "interrupt_sets", "tell_now"]

UNEXPECTED = 70
"""Exit code of an error nobody foresaw, sysexits' EX_SOFTWARE."""
_SHOW = "REPOASSAY_TRACEBACK"
_INTERRUPTED = 130
_TERMINATED = 143
_LACKING = 3
"""Exit code where this machine lacks something."""
_DISK = {
    errno.ENOSPC: "Free some space, or choose another place.",
    errno.EDQUOT: "Free some of your quota, or choose another place.",
    errno.EFBIG: "Raise the limit of file sizes (`ulimit -f`), or choose another place.",
    errno.EROFS: "Choose a place that may be written to.",
    errno.EACCES: "Choose a place that this account may use, or change its permissions.",
    errno.EPERM: "Choose a place that this account may use, or change its permissions.",
    errno.EISDIR: "Remove the folder that is where a file belongs, or choose another place.",
    errno.ENOTDIR: "Choose a place below a folder.",
    errno.ELOOP: "Choose a place that no link leads to itself.",
    errno.ENAMETOOLONG: "Choose a shorter name.",
    errno.EIO: "Check the disk it lies on, or choose another file.",
    errno.EMFILE: "Raise the limit of open files (`ulimit -n`).",
    errno.ENFILE: "Raise this machine's limit of open files.",
    errno.ENOTEMPTY: "Another command has written there meanwhile: choose another place.",
    errno.EEXIST: "Another command has written there meanwhile: choose another place.",
}
"""Errors of a disk, wherever it was written, and of open files; and the remedy."""
_NOT_OPENED = (errno.EACCES, errno.EPERM, errno.EIO, errno.EMFILE, errno.ENFILE)


def exit_with(program: str, command: Callable[[], object], *, fault: int = 1) -> NoReturn:
    """Call the command and leave with its exit code.

    An unexpected error is one sentence that names a file with the traceback; with `REPOASSAY_TRACEBACK=1` the
    traceback is shown as well.

    Args:
        program: Name in messages.
        command: Returns the code `context.exit` was given; commands themselves return nothing.
        fault: Exit code of known errors that are nobody's input (`RepoAssayError.exit_code` 1).
    """
    if os.geteuid() == 0:
        os.umask(0o022)  # what root writes is read in sandboxes by another account
    _open_standard_streams()
    if signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
        signal.signal(signal.SIGTERM, _terminate)
    try:
        code = command()
        sys.exit(code if isinstance(code, int) else 0)
    except SystemExit:
        if type(sys.stdout).__name__.endswith("PacifyFlushWrapper"):  # click was there first, and said 1
            sys.exit(0)
        raise
    except RepoAssayError as error:
        _say(program, str(error))
        if isinstance(error, Interrupted):
            sys.exit(_interrupt_code())
        sys.exit(fault if error.exit_code == 1 else error.exit_code)
    except click.ClickException as error:
        error.show()
        print_failure(error.format_message())
        sys.exit(error.exit_code)
    except (click.Abort, KeyboardInterrupt) as error:
        _drop(error)
        sys.exit(_interrupted())
    except BrokenPipeError:  # the reader of our output, `head` say, has seen enough
        discard_output()
        sys.exit(0)
    except BaseException as error:  # noqa: BLE001 - the last resort; panics of code in Rust are no Exception
        if isinstance(error, OSError) and (sentence := _of_the_disk(error)):
            _say(program, sentence)
            sys.exit(_LACKING)
        if isinstance(error, ModuleNotFoundError) and (sentence := _of_an_extra(error)):
            _say(program, sentence)
            sys.exit(_LACKING)
        if sentence := _of_a_limit(error):
            _say(program, sentence)
            sys.exit(_LACKING)
        sys.exit(_interrupted() if _is_interrupt(error) else _unexpected(program, error))


@contextlib.contextmanager
def interrupt_sets(cancel: threading.Event, remedy: str) -> Iterator[None]:
    """Let the first Ctrl-C set `cancel` and raise nothing; the second is raised wherever the main thread is.

    Where SIGINT is ignored, as in a job that a shell started in the background, it stays ignored.

    Raises:
        Interrupted: At the end of the block, with `remedy`, when `cancel` was set or the second Ctrl-C came.
    """

    def handle(_number: int, _frame: FrameType | None) -> None:
        if cancel.is_set():
            raise KeyboardInterrupt
        cancel.set()
        tell_now("Stopping after what is under way; Ctrl-C again stops at once.")

    heard = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if heard:
        signal.signal(signal.SIGINT, handle)
    try:
        yield
    except KeyboardInterrupt:
        cancel.set()
    finally:
        if heard:
            signal.signal(signal.SIGINT, signal.default_int_handler)
    if cancel.is_set():
        raise Interrupted("Stopped.", remedy)


def tell_now(sentence: str) -> None:
    """Print a sentence to standard error from within a signal handler, where buffers may be held by what it broke."""
    with contextlib.suppress(OSError):  # nobody is there to read it
        os.write(2, f"\n{sentence}\n".encode())


def discard_output() -> None:
    """Let what is still to be printed go nowhere."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _open_standard_streams() -> None:
    """Let closed ones lead nowhere: the next file opened would have such a number, and what is printed would go in."""
    for number, name, mode in ((0, "stdin", "r"), (1, "stdout", "w"), (2, "stderr", "w")):
        try:
            os.fstat(number)
        except OSError:
            os.dup2(os.open(os.devnull, os.O_RDWR), number)
            setattr(sys, name, open(number, mode, encoding="utf-8", closefd=False))  # noqa: SIM115 - to the end


def _of_the_disk(error: OSError) -> str | None:
    """What a full or closed disk, or a working folder that is gone, is told as; None for other errors."""
    try:
        os.getcwd()  # noqa: PTH109 - pathlib is not imported yet
    except FileNotFoundError:
        return "The working folder was removed. Change to one that is there, and repeat."
    parts = error.args[0] if error.args else ()
    if isinstance(parts, list) and parts and "[Errno " in (text := str(parts[0][-1])):  # of shutil.copytree
        number = int(text.partition("[Errno ")[2].partition("]")[0])
        error = OSError(number, os.strerror(number), str(parts[0][1]))
    if (remedy := _DISK.get(error.errno or 0)) is None:
        return None
    from repoassay.text import quote

    names = [str(name) for name in (error.filename, error.filename2) if isinstance(name, (str, os.PathLike))]
    verb = "opened" if error.errno in _NOT_OPENED else "written"
    return f"{quote(names[-1]) if names else 'A file'} cannot be {verb}: {error.strerror}. {remedy}"


def _of_a_limit(error: BaseException) -> str | None:
    """What too little memory, or too few processes or threads, is told as; None for other errors."""
    number, message = (error.errno, error.strerror) if isinstance(error, OSError) else (0, str(error))
    if isinstance(error, MemoryError) or number == errno.ENOMEM:
        return "There is not enough memory. Free some, raise its limit (`ulimit -v`), or use fewer --workers."
    if message in (os.strerror(errno.EAGAIN), "can't start new thread"):  # of a write, say, it has other words
        return "No more processes can be started. Raise their limit (`ulimit -u`), or use fewer --workers."
    return None


def _of_an_extra(error: ModuleNotFoundError) -> str | None:
    """Which extra brings a package that is not installed; None for other packages."""
    import re
    from importlib.metadata import requires

    package = (error.name or "").partition(".")[0]
    named = {"PIL": "pillow", "cv2": "opencv-python-headless", "multipart": "python-multipart"}
    project = named.get(package, package).replace("_", "-").lower()
    extras: dict[str, list[str]] = {}
    for each in requires("repoassay") or ():
        if found := re.match(r"([\w.-]+).*extra == ['\"]([\w-]+)['\"]", each):
            extras.setdefault(found[2], []).append(found[1].lower())
    bringing = [extra for extra, projects in extras.items() if project in projects]
    return str(MissingExtra(package, min(bringing, key=lambda extra: len(extras[extra])))) if bringing else None


def _say(program: str, sentence: str) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # one more Ctrl-C must not turn a clean end into a noisy one
    sys.unraisablehook = lambda _: None  # finalizers of others' objects now fail for the same reason, and print it
    from repoassay.text import block

    click.echo(f"{program}: {block(sentence)}", err=True)  # names in it may be a stranger's
    print_failure(sentence)


def _drop(error: BaseException) -> None:
    """Close generators that an interrupt left half-way: what they have under way would be waited for at our end."""
    import traceback

    traceback.clear_frames(error.__traceback__)


def _interrupted() -> int:
    click.echo("Interrupted.", err=True)
    print_failure("Interrupted.")
    return _interrupt_code()


def _terminate(_number: int, _frame: FrameType | None) -> None:
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    raise Terminated


def _interrupt_code() -> int:
    """Exit code of a program that was stopped; SIGTERM is at its default only after it came (`_terminate`)."""
    return _TERMINATED if signal.getsignal(signal.SIGTERM) is signal.SIG_DFL else _INTERRUPTED


def _is_interrupt(error: BaseException) -> bool:
    """Whether an error is a Ctrl-C that came while code in C or Rust called back, and that it made another error of."""
    seen: set[int] = set()
    waiting: list[BaseException | None] = [error]
    while waiting:
        one = waiting.pop()
        if one is None or id(one) in seen:
            continue
        seen.add(id(one))
        if isinstance(one, KeyboardInterrupt) or "KeyboardInterrupt" in str(one):
            return True
        waiting += [one.__cause__, one.__context__]
    return False


def _unexpected(program: str, error: BaseException) -> int:
    import traceback

    text = "".join(traceback.format_exception(error))
    if os.environ.get(_SHOW) == "1":
        click.echo(text, err=True, nl=False)
    what = f"An unexpected {type(error).__name__} stopped the program"
    try:
        where = f"{what}; its traceback is in {_write_log(text)}. Report it with that file."
    except OSError as reason:
        where = f"{what}; its traceback could not be written ({reason.strerror}). {_SHOW}=1 shows it."
    _say(program, where)
    try:
        sys.stdout.flush()
    except OSError:  # or the interpreter's own attempt would change the exit code
        discard_output()
    return UNEXPECTED


def _write_log(text: str) -> Path:
    """Write the traceback, readable by this user alone, to the cache folder, or where temporary files are."""
    import platform
    import tempfile
    from pathlib import Path  # only a crash needs it

    import repoassay
    from repoassay.sandbox import Cache

    head = f"repoassay {repoassay.__version__}, Python {platform.python_version()}, {platform.platform()}\n\n"
    try:
        folder = Cache().path / "errors"
        folder.mkdir(mode=0o700, exist_ok=True)
        return _new_file(folder, head + text)
    except (RepoAssayError, OSError):
        return _new_file(Path(tempfile.gettempdir()), head + text)


def _new_file(folder: Path, text: str) -> Path:
    import tempfile
    from pathlib import Path  # only a crash needs it

    descriptor, name = tempfile.mkstemp(".log", "repoassay-", folder)
    with os.fdopen(descriptor, "w", encoding="utf-8", errors="backslashreplace") as stream:
        stream.write(text)
    return Path(name)
