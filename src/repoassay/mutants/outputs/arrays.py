"""Arrays of numbers made wrong: over time (their first axis), in their coordinates (the last), or in their values."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from repoassay.mutants.outputs.mutant import Expected, OutputChange, RightOutput, Same

__all__ = ["SUFFIXES", "array_changes"]

SUFFIXES = frozenset({".npy", ".npz"})


def array_changes(source: RightOutput) -> Iterator[OutputChange]:
    """Every mutant of the largest array of a file."""
    right, kept, key = _read(source.path)
    if right is None or right.ndim == 0 or right.dtype.kind not in "fiu":
        return
    for name, change in _wrong(right.astype(float), source.seed):
        yield OutputChange(name, partial(_write, right, kept, key, change))
    for path in source.inputs:
        if path.suffix.lower() in SUFFIXES:
            yield OutputChange("input", partial(_copied, path))
    for name, form in (("as-float64", "float64"), ("as-float32", "float32")):
        yield OutputChange(name, partial(_write, None, kept, key, partial(right.astype, form)), Expected.RIGHT)
    for suffix in source.formats:
        if suffix in SUFFIXES and suffix != source.path.suffix.lower():
            yield OutputChange(
                f"as-{suffix[1:]}", partial(_write, None, {}, key, lambda: right), Expected.RIGHT, suffix=suffix
            )


def _wrong(right: Any, seed: int) -> Iterator[tuple[str, Callable[[], Any]]]:
    import numpy as np

    count = len(right)
    random = np.random.default_rng(seed)
    yield "first-half", lambda: right[: count // 2]
    yield "doubled", lambda: np.concatenate([right, right])
    yield "frozen", lambda: np.repeat(right[:1], count, axis=0)
    yield "second-half-frozen", lambda: right[np.minimum(np.arange(count), count // 2)]
    yield "reversed", lambda: right[::-1]
    yield "shuffled", lambda: right[random.permutation(count)]
    yield "mean-alone", lambda: np.broadcast_to(right.mean(axis=0, keepdims=True), right.shape)
    yield "zeros", lambda: right * 0
    yield "not-a-number", lambda: right * np.nan
    yield "noise-alone", lambda: random.normal(right.mean(), right.std() or 1.0, right.shape)
    yield "noise", lambda: right + random.normal(0, right.std() or 1.0, right.shape)
    if right.ndim > 1:
        yield "last-axis-rolled", lambda: np.roll(right, 1, axis=-1)
        yield "last-column-zero", lambda: np.concatenate([right[..., :-1], right[..., -1:] * 0], axis=-1)
    if right.ndim > 2:
        yield "middle-axis-shuffled", lambda: right[:, random.permutation(right.shape[1])]
        yield "middle-axis-collapsed", lambda: np.broadcast_to(right[:, :1], right.shape)


def _read(path: Path) -> tuple[Any, dict[str, Any], str]:
    import numpy as np

    opened = np.load(path, allow_pickle=False)
    if path.suffix.lower() == ".npy":
        return opened, {}, "positions"
    kept = {name: opened[name] for name in opened.files}
    key = max(kept, key=lambda name: kept[name].size, default="")
    return kept.get(key), kept, key


def _write(right: Any, kept: dict[str, Any], key: str, change: Callable[[], Any], place: Path) -> None:
    import numpy as np

    variant = change()
    if right is not None and variant.shape == right.shape and np.allclose(variant, right, equal_nan=True):
        raise Same
    if place.suffix.lower() == ".npy":
        np.save(place, variant)
    else:
        np.savez(place, **{**kept, key: variant})


def _copied(path: Path, place: Path) -> None:
    place.write_bytes(path.read_bytes())
