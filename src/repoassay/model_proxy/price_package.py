"""Prices out of the package genai-prices (Pydantic's, MIT): its wheel, or the module `data.py` in it.

The module is somebody's program, so that it is parsed and never run: its constructors' arguments are read out of the
syntax tree. Models match by the provider's name and a pattern; those that match by a regular expression, or are priced
by the picture, hour or request, are left out, as are models whose price depends on the hour of the day.
"""

from __future__ import annotations

import ast
import re
import zipfile
from collections.abc import Iterator
from datetime import date
from decimal import Decimal, InvalidOperation
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from pydantic import ValidationError

from repoassay.errors import BadInput
from repoassay.model_proxy.price import Price

__all__ = ["installed_prices", "read_price_package"]

_INSTALLED = {
    "genai-prices": "genai_prices/data.py",
    "litellm": "litellm/model_prices_and_context_window_backup.json",
}
_LARGEST = 32 << 20
_DATA = "genai_prices/data.py"
_PROVIDERS = {"google": "gemini"}
"""Providers that are called otherwise here."""
_ALWAYS = date(1970, 1, 1)
_FIELDS = {
    "input": "input_mtok",
    "output": "output_mtok",
    "cached": "cache_read_mtok",
    "cache_write": "cache_write_mtok",
}
_SHAPES = {"ClauseEquals": ("equals", "{}"), "ClauseStartsWith": ("starts_with", "{}*"),
           "ClauseEndsWith": ("ends_with", "*{}"), "ClauseContains": ("contains", "*{}*")}  # fmt: skip


def read_price_package(path: Path) -> list[Price]:
    """Read every model that is priced by the token.

    Raises:
        BadInput: The file cannot be read, is too large, or is not that package's.
    """
    remedy = "Give the wheel that `pip download --no-deps genai-prices` brings."
    try:
        text, version = _source(path)
        tree = ast.parse(text)
    except (OSError, ValueError, SyntaxError, KeyError, RecursionError, MemoryError, zipfile.BadZipFile) as error:
        raise BadInput(f"The price data {path} cannot be read ({type(error).__name__}).", remedy) from error
    providers = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and _name(node) == "Provider"]
    try:
        found = [price for provider in providers for price in _models(provider, version)]
    except (ValidationError, KeyError, ValueError, TypeError, InvalidOperation, RecursionError) as error:
        raise BadInput(f"The price data {path} is of another shape than is known ({error}).", remedy) from error
    if not found:
        raise BadInput(f"The price data {path} holds no prices.", remedy)
    return found


def installed_prices(package: str) -> Path:
    """The file of prices in an installed package, which is not imported.

    Raises:
        BadInput: It is not installed, or has no such file.
    """
    place = _INSTALLED.get(package)
    if place is None:
        raise BadInput(f"{package!r} is no file and no known source of prices.", f"Known: {', '.join(_INSTALLED)}.")
    try:
        path = Path(str(distribution(package).locate_file(place)))
    except PackageNotFoundError as error:
        remedy = f"Run `pip download --no-deps {package}` and give the file."
        raise BadInput(f"The package {package} is not installed here.", remedy) from error
    if not path.is_file():
        raise BadInput(f"The package {package} has no {place}.", "Give a file of prices.")
    return path


def _source(path: Path) -> tuple[str, str]:
    """The module's text, and the name of the release it is of."""
    if path.suffix != ".whl":
        if path.stat().st_size > _LARGEST:
            raise ValueError("too large")
        return path.read_text("utf-8"), "genai-prices"
    with zipfile.ZipFile(path) as wheel:
        info = wheel.getinfo(_DATA)
        if info.file_size > _LARGEST:
            raise ValueError("too large")
        folders = {name.partition("/")[0] for name in wheel.namelist()}
        release = next((name for name in sorted(folders) if re.fullmatch(r"genai_prices-[\w.]+\.dist-info", name)), "")
        with wheel.open(info) as file:
            data = file.read(_LARGEST + 1)
    return data.decode("utf-8"), release.removesuffix(".dist-info").replace("_", "-").replace("prices-", "prices ")


def _models(provider: ast.Call, version: str) -> Iterator[Price]:
    provider_fields = _arguments(provider)
    name = str(_value(provider_fields["id"]))
    pages = _value(provider_fields["pricing_urls"]) if "pricing_urls" in provider_fields else []
    page = f"; {pages[0]}" if isinstance(pages, list) and pages else ""
    models = provider_fields.get("models")
    for model in models.elts if isinstance(models, ast.List) else []:
        if not isinstance(model, ast.Call):
            continue
        arguments = _arguments(model)
        patterns = list(_patterns(arguments["match"])) or [_literal(str(_value(arguments["id"])))]
        for since, prices in _dated(arguments["prices"]):
            rates = _rates(prices)
            if rates is None:
                continue
            for pattern in dict.fromkeys(patterns):
                full = f"{_PROVIDERS.get(name, name)}/{pattern}"
                source = f"{version}{page}"
                yield Price.model_validate({"model": full, "from": since, "source": source, **rates})


def _dated(prices: ast.expr) -> Iterator[tuple[date, ast.Call]]:
    """Each price of a model with the first day it holds."""
    if isinstance(prices, ast.Call) and _name(prices) == "ModelPrice":
        yield _ALWAYS, prices
    if any(isinstance(node, ast.Name) and node.id == "TimeOfDateConstraint" for node in ast.walk(prices)):
        return
    for entry in prices.elts if isinstance(prices, ast.List) else []:
        if not isinstance(entry, ast.Call):
            continue
        arguments = _arguments(entry)
        inner, constraint = arguments.get("prices"), arguments.get("constraint")
        if not isinstance(inner, ast.Call):
            continue
        if constraint is None:
            yield _ALWAYS, inner
        elif isinstance(constraint, ast.Call) and _name(constraint) == "StartDateConstraint":
            day = _arguments(constraint)["start_date"]
            if isinstance(day, ast.Call):
                yield date(*[int(str(_value(part))) for part in day.args]), inner


def _rates(prices: ast.Call) -> dict[str, object] | None:
    """Dollars a million tokens with their tiers, None where the tokens have no price."""
    arguments = _arguments(prices)
    base: dict[str, Decimal] = {}
    tiers: dict[int, dict[str, Decimal]] = {}
    for field, name in _FIELDS.items():
        value = arguments.get(name)
        if isinstance(value, ast.Call) and _name(value) == "TieredPrices":
            tiered = _arguments(value)
            base[field] = _amount(tiered["base"])
            steps = tiered["tiers"]
            for step in steps.elts if isinstance(steps, ast.List) else []:
                if isinstance(step, ast.Call):
                    known = _arguments(step)
                    tiers.setdefault(int(str(_value(known["start"]))), {})[field] = _amount(known["price"])
        elif value is not None and not (isinstance(value, ast.Constant) and value.value is None):
            base[field] = _amount(value)
    if "input" not in base or "output" not in base or not base["input"] + base["output"]:
        return None  # nothing may stand for free, or for not known
    above, listed = dict(base), []
    for start in sorted(tiers):
        above = {**above, **tiers[start]}
        listed.append({"above": start, **above})
    return {**base, "tier": listed}


def _patterns(match: ast.expr) -> Iterator[str]:
    if not isinstance(match, ast.Call):
        return
    arguments = _arguments(match)
    name = _name(match)
    if name == "ClauseOr":
        some = arguments.get("or_")
        for inner in some.elts if isinstance(some, ast.List) else []:
            yield from _patterns(inner)
    elif name in _SHAPES:
        field, shape = _SHAPES[name]
        yield shape.format(_literal(str(_value(arguments[field]))))


def _literal(text: str) -> str:
    return re.sub(r"([*?\[])", r"[\1]", text)


def _amount(node: ast.expr) -> Decimal:
    if isinstance(node, ast.Call) and _name(node) == "Decimal" and len(node.args) == 1:
        return Decimal(str(_value(node.args[0])))
    return Decimal(str(_value(node)))


def _name(call: ast.Call) -> str:
    return call.func.id if isinstance(call.func, ast.Name) else ""


def _arguments(call: ast.Call) -> dict[str, ast.expr]:
    return {keyword.arg: keyword.value for keyword in call.keywords if keyword.arg}


def _value(node: ast.expr) -> object:
    return ast.literal_eval(node)
