"""`repoassay cache`: what is kept to make workspaces quick, and letting go of it."""

from __future__ import annotations

import click

from repoassay.options import FiniteRange

__all__ = ["cache"]


@click.command()
@click.option("--prune", "pruning", is_flag=True, help="Remove what passes the limits below.")
@click.option("--max-gb", type=FiniteRange(0), default=20.0, show_default=True, help="Gigabytes to keep at most.")
@click.option(
    "--max-days",
    type=FiniteRange(0),
    default=30.0,
    show_default=True,
    help="Days after which an unused entry goes.",
)
def cache(pruning: bool, max_gb: float, max_days: float) -> None:  # fmt: skip
    """Show what the cache holds: checkouts, environments and downloads, each made again when it is missing.

    \b
    Examples:
      repoassay cache
      repoassay cache --prune --max-gb 5
    """
    from repoassay.sandbox import Cache
    from repoassay.workspace import entries, prune

    store = Cache(makes=pruning)
    if pruning:
        removed = prune(store, max_bytes=int(max_gb * 1e9), max_age=max_days * 86400)
        click.echo(f"{len(removed)} entries removed, {sum(entry.size for entry in removed) / 1e6:.0f} MB")
    held = entries(store)
    for kind in sorted({entry.kind for entry in held}):
        of_kind = [entry for entry in held if entry.kind == kind]
        click.echo(f"{kind:<14} {len(of_kind):>5} {sum(entry.size for entry in of_kind) / 1e6:>9.0f} MB")
    click.echo(f"{'total':<14} {len(held):>5} {sum(entry.size for entry in held) / 1e6:>9.0f} MB in {store.path}")
