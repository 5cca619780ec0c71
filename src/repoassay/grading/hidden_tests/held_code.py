"""Holds what is the same for all jobs of one task, in a branch of a prefork server. Runs inside the sandbox.

Code of modules and names in folders are used only where the import system would have taken them from disk: code where
the source still has the time and size that its byte code was compiled from, names where the folder still has its time.
Else it reads as ever. Patterns are compiled by the interpreter's own compiler, once.
"""

from __future__ import annotations

import importlib
import importlib.machinery
import importlib.util
import marshal
import os
import re
import sys
import warnings
from typing import Any

__all__ = ["hold_shared", "learn"]

_external: Any = sys.modules[importlib.machinery.FileFinder.__module__]
_patterns: Any = getattr(re, "_compiler", None) or getattr(re, "sre_compile", None)
_UNSTEADY = re.DEBUG | re.LOCALE  # one prints, the other asks the locale


def hold_shared(document: dict[str, Any], hold_pieces: Any) -> None:
    """Take a document; see `base_code.py`. `hold_pieces` is that of `pieced_code.py`."""
    for name in document["imports"]:
        try:
            importlib.import_module(name)
        except Exception:  # noqa: BLE001, S112 - the job imports it, or fails to
            continue
    codes = {path: (data[8:16], marshal.loads(data[16:])) for path, data in document["modules"] if _sound(data)}  # noqa: S302 - byte code
    _hold_code(codes)
    texts = [(path, text, codes[path][0], codes[path][1].co_flags) for path, text in document["texts"] if path in codes]
    hold_pieces(texts, _stamp)
    _hold_patterns(document["patterns"])
    _hold_folders({path: (time, set(names)) for path, time, names in document["folders"]})


def _sound(data: bytes) -> bool:
    return data[:8] == importlib.util.MAGIC_NUMBER + bytes(4)


def _hold_code(codes: dict[str, Any]) -> None:
    loader: Any = importlib.machinery.SourceFileLoader
    read = loader.get_code
    steps = [(name, getattr(loader, name)) for name in ("path_stats", "get_data", "source_to_code")]

    def get_code(self: Any, fullname: str) -> Any:
        held = codes.get(self.path)
        # Who hooks into the loader, by a subclass or in place, is to meet every source.
        if held is not None and type(self) is loader and all(getattr(loader, name) is step for name, step in steps):
            try:
                status = os.stat(self.path)  # noqa: PTH116 - no path is to be made for each import
            except OSError:
                return read(self, fullname)
            if _stamp(status) == held[0]:
                return held[1]
        return read(self, fullname)

    # As the import system's own frames, which no traceback shows and no warning is told of.
    get_code.__code__ = get_code.__code__.replace(co_filename=_external.SourceLoader.exec_module.__code__.co_filename)
    loader.get_code = get_code


def _stamp(status: os.stat_result) -> bytes:
    return b"".join((int(field) & 0xFFFFFFFF).to_bytes(4, "little") for field in (status.st_mtime, status.st_size))


def _hold_folders(known: dict[str, Any]) -> None:
    """Let whoever finds modules in a folder begin with its names, once hooks that stand in front have been asked."""
    plain: Any = sys.path_hooks[-1]

    def path_hook_for_FileFinder(path: str) -> Any:  # noqa: N802 - the name of the hook it stands for
        finder = plain(path)
        if path in known:
            finder._path_mtime, finder._path_cache = known[path]
        return finder

    sys.path_hooks[-1] = path_hook_for_FileFinder


def _hold_patterns(patterns: list[Any]) -> None:
    make = _patterns.compile
    compiled: dict[Any, Any] = {}
    for source, flags in patterns:
        with warnings.catch_warnings(record=True) as notices:
            warnings.simplefilter("always")
            try:
                pattern = make(source, flags)
            except Exception:  # noqa: BLE001, S112 - whoever compiles it will see
                continue
        if not notices:  # else everybody who compiles it is to be warned
            compiled[type(source), source, flags] = pattern

    def compile(p: Any, flags: int = 0) -> Any:
        kind = type(p)
        if kind is str or kind is bytes:
            held = compiled.get((kind, p, flags))
            if held is not None:
                return held
        return make(p, flags)

    _patterns.compile = compile


def learn() -> Any:
    """Watch which patterns are compiled and which modules imported from here on; a function that tells."""
    make, before = _patterns.compile, set(sys.modules)
    held_patterns: dict[Any, None] = {}

    def compile(p: Any, flags: int = 0) -> Any:
        pattern = make(p, flags)
        if type(p) in (str, bytes) and not int(flags) & _UNSTEADY and len(p) < 20_000:
            held_patterns[type(p), p, int(flags)] = None
        return pattern

    _patterns.compile = compile

    def told() -> dict[str, Any]:
        _patterns.compile = make
        patterns = [
            [p if kind is str else p.decode("latin-1"), kind is bytes, flags] for kind, p, flags in held_patterns
        ]
        return {"patterns": patterns, "modules": [name for name in sys.modules if name not in before]}

    return told
