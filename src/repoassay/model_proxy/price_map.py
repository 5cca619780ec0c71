"""Prices out of LiteLLM's public price map (`model_prices_and_context_window.json`, MIT), given as a local file.

The map has no dates: its prices are taken to hold always, so a run's record should name the file's digest. Tiers are
keys such as `input_cost_per_token_above_200k_tokens`. Models priced by the picture or second are left out.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

from repoassay.errors import BadInput
from repoassay.model_proxy.price import Price, Tier

__all__ = ["read_price_map"]

_LARGEST = 64 << 20
_MILLION = Decimal(1_000_000)
_ABOVE = re.compile(r"input_cost_per_token_above_(?P<thousands>\d+)k_tokens")


def read_price_map(path: Path) -> list[Price]:
    """Read every model of the map that is priced by the token.

    Raises:
        BadInput: The file cannot be read, is too large, or is not such a map.
    """
    remedy = "Give LiteLLM's model_prices_and_context_window.json."
    try:
        if path.stat().st_size > _LARGEST:
            raise BadInput(f"The price map {path} is larger than {_LARGEST} bytes.", remedy)
        models = json.loads(path.read_bytes(), parse_float=Decimal)
    except (OSError, ValueError, RecursionError) as error:
        raise BadInput(f"The price map {path} cannot be read ({error}).", remedy) from error
    if not isinstance(models, dict):
        raise BadInput(f"The price map {path} is not an object of models.", remedy)
    entries = []
    for name, facts in models.items():
        if name != "sample_spec" and isinstance(facts, dict):
            entry = _entry(name, facts, path.name)
            if entry is not None:
                entries.append(entry)
    return entries


def _entry(name: str, facts: Mapping[str, Any], source: str) -> Price | None:
    taken, output_rate = _rate(facts, "input_cost_per_token"), _rate(facts, "output_cost_per_token")
    if taken is None or output_rate is None or not taken + output_rate:
        return None  # 0 stands for "unknown" in the map as often as for "free"
    tiers = []
    for key in facts:
        found = _ABOVE.fullmatch(key)
        if found is None:
            continue
        above = f"_above_{found['thousands']}k_tokens"
        tiers.append(
            Tier(
                above=int(found["thousands"]) * 1000,
                input=_rate(facts, key) or taken,
                output=_rate(facts, f"output_cost_per_token{above}") or output_rate,
                cached=_rate(facts, f"cache_read_input_token_cost{above}"),
                cache_write=_rate(facts, f"cache_creation_input_token_cost{above}"),
            )
        )
    # A name is not a pattern here.
    pattern = re.sub(r"([*?\[])", r"[\1]", name)
    return Price.model_validate(
        {
            "model": pattern,
            "from": date(1970, 1, 1),
            "input": taken,
            "output": output_rate,
            "cached": _rate(facts, "cache_read_input_token_cost"),
            "cache_write": _rate(facts, "cache_creation_input_token_cost"),
            "source": source,
            "tier": tuple(tiers),
        }
    )


def _rate(facts: Mapping[str, Any], key: str) -> Decimal | None:
    value = facts.get(key)
    if isinstance(value, bool) or not isinstance(value, Decimal | int) or not 0 <= value < 1:
        return None
    return value * _MILLION if isinstance(value, Decimal) else Decimal(value) * _MILLION
