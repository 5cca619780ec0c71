"""Models that a script of tests asks: the user's key stays outside, and what is asked passes the model proxy.

The script finds on its own loopback what it takes for its vendor, and in place of the key one that is worthless
elsewhere and afterwards. It names its model itself. What it runs of the submission can read that key too, which is why
calls and tokens are bounded, and why such a verdict is a model's word and never attested.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from repoassay.errors import InfraFault, Unavailable
from repoassay.sandbox import PortForward, Sandbox, SandboxNetwork, open_door, temporary_folder
from repoassay.types import HiddenTests, Spending

if TYPE_CHECKING:
    from repoassay.model_proxy import AttemptSession, Gateway, Upstream

__all__ = ["ASKED_MODELS", "AskedModel", "ScriptModels", "account_of", "missing_keys", "open_script_models"]

_PORT = 4720
_CALLS, _TOKENS, _DOLLARS = 300, 3_000_000, Decimal(10)
"""What one run of tests may ask for. A submission could ask the dearest model, so dollars are bounded too, but where
the user serves the models, which need have no price."""


@dataclass(frozen=True, slots=True)
class AskedModel:
    """How clients of one provider find it.

    Attributes:
        dialect: The dialect whose base URL they are given.
        settings: Variables that clients read the base URL from; the first is also where the user may name another one.
        address: What stands before the path of that base URL where a program names it itself.
        without: What of that path some programs leave out.
    """

    dialect: str
    settings: tuple[str, ...]
    address: str
    without: str = ""


ASKED_MODELS = {
    "openai": AskedModel("chat", ("OPENAI_BASE_URL", "OPENAI_API_BASE"), "https://api.openai.com"),
    "anthropic": AskedModel("messages", ("ANTHROPIC_BASE_URL", "ANTHROPIC_API_BASE"), "https://api.anthropic.com"),
    "gemini": AskedModel(
        "gemini", ("GOOGLE_GEMINI_BASE_URL", "GEMINI_API_BASE"), "https://generativelanguage.googleapis.com"
    ),
    "openrouter": AskedModel("chat", ("OPENROUTER_BASE_URL", "OPENROUTER_API_BASE"), "https://openrouter.ai/api"),
    "deepseek": AskedModel("chat", ("DEEPSEEK_BASE_URL", "DEEPSEEK_API_BASE"), "https://api.deepseek.com", "/v1"),
    "mistral": AskedModel("chat", ("MISTRAL_BASE_URL", "MISTRAL_API_BASE"), "https://api.mistral.ai"),
}
"""The providers that scripts of tests may ask, by the name of their upstream."""


@dataclass(slots=True)
class ScriptModels:
    """What one run of a script is given to ask models with; nothing for one that asks none.

    Attributes:
        env: Variables.
        doors: Where they lead.
        spent: What was asked so far.
    """

    env: dict[str, str] = field(default_factory=dict)
    doors: tuple[PortForward, ...] = ()
    spent: Callable[[], Spending] = Spending
    _addresses: dict[bytes, bytes] = field(default_factory=dict)

    def lead(self, provider: str, session: AttemptSession, door: PortForward) -> None:
        """Let clients of a provider, and addresses of it in the tests' files, find a session."""
        vendor, origin = ASKED_MODELS[provider], f"http://127.0.0.1:{door.port}"
        url = session.urls(origin)[vendor.dialect]
        self.env |= dict.fromkeys(vendor.settings, url)
        if vendor.without:
            self._addresses[f"{vendor.address}{vendor.without}".encode()] = url.encode()
        self._addresses[vendor.address.encode()] = f"{origin}/{session.token}{vendor.without}".encode()
        self.doors = (*self.doors, door)

    def redirect(self, content: bytes) -> bytes:
        """A file of the tests, in which the addresses of vendors lead to the model proxy."""
        for address, here in self._addresses.items():
            content = re.sub(re.escape(address) + rb"(?![\w.:-])", here.replace(b"\\", rb"\\"), content)
        return content

    def check(self, reward: float | None, solution_passed: bool) -> Spending | None:
        """What was asked; None where no model is.

        A submission can ask too, what is refused or until nothing is left: that excuses nothing where the solution has
        passed meanwhile. An outage of the model is never its doing.

        Raises:
            InfraFault: The tests did not pass, and a model that was asked gave no answer.
        """
        if not self.env:
            return None
        spent = self.spent()
        troubles = [spent.outage and f"the last call to it ended as {spent.outage}"]
        if not solution_passed:
            troubles.append(spent.exhausted)
            if not spent.calls and spent.failed + spent.refused:
                troubles.append("no call to it was answered")
        if (reward is None or reward < 1) and (trouble := next(filter(None, troubles), "")):
            raise InfraFault(f"The model that these tests ask could not judge: {trouble} ({account_of(spent)}).")
        return spent


def missing_keys(tests: HiddenTests) -> str:
    """Why a script cannot ask the models it needs here, as a sentence; empty when it can."""
    there = {name for name, provider in tests.keys.items() if _key(provider)}
    needed = [name for name in tests.keys if name not in tests.optional_keys]
    absent = [name for name in needed if name not in there]
    if not absent and (there or not tests.keys):
        return ""
    names = dict.fromkeys(_upstream(tests.keys[name]).key_env for name in absent or tests.keys)
    how = " and ".join(names) if absent else " or ".join(names)
    return f"It cannot be judged: its tests ask a model. Set {how}; the key does not enter a sandbox."


@contextmanager
def open_script_models(tests: HiddenTests, sandbox: Sandbox) -> Iterator[ScriptModels]:
    """Let one run of a script ask the models that its task names.

    Raises:
        Unavailable: A key is missing.
    """
    if not tests.keys:
        yield ScriptModels()
        return
    if why := missing_keys(tests):
        raise Unavailable(why)
    from repoassay.model_proxy import AS_ASKED, Budget, CallLimits, open_gateway

    providers = {name: provider for name, provider in tests.keys.items() if _key(provider)}
    upstreams = [_upstream(provider) for provider in dict.fromkeys(providers.values())]
    with ExitStack() as ends:
        place = Path(ends.enter_context(temporary_folder("asked")))
        limits = CallLimits(response=32 << 20, settle=1.0)
        gateway = ends.enter_context(open_gateway(upstreams, limits=limits, listen=False))
        found, sessions = ScriptModels(), []
        for number, upstream in enumerate(upstreams):
            session = gateway.admit(
                "tests", model=f"{upstream.name}/{AS_ASKED}", journal=place / f"{number}.jsonl",
                budget=Budget(calls=_CALLS, tokens=_TOKENS, dollars=None if _own_address(upstream.name) else _DOLLARS),
            )  # fmt: skip
            ends.callback(session.close)
            sessions.append(session)
            found.lead(upstream.name, session, _door(gateway, session, sandbox, _PORT + number))
            found.env |= {name: session.key for name, provider in providers.items() if provider == upstream.name}
        found.spent = lambda: _sum(session.totals() for session in sessions)
        yield found


def _door(gateway: Gateway, session: AttemptSession, sandbox: Sandbox, port: int) -> PortForward:
    return open_door(sandbox, SandboxNetwork.NONE, port, partial(gateway.serve, entry=session))


def account_of(spending: Spending) -> str:
    """What was asked, in words."""
    tokens = f"{spending.usage.input + spending.usage.output:,} tokens"
    dollars = "an unknown price" if spending.dollars is None else f"{spending.dollars:.4f} dollars"
    return f"{spending.calls} calls answered, {tokens}, {dollars}"


def _sum(accounts: Iterator[Spending]) -> Spending:
    """Sessions of one run as one account, with what ended any of them."""
    whole = Spending()
    for each in accounts:
        ended = {"outage": whole.outage or each.outage, "exhausted": whole.exhausted or each.exhausted}
        whole = (whole + each).model_copy(update=ended)
    return whole


def _upstream(provider: str) -> Upstream:
    """A provider's own upstream, at the address that the user's environment names for it."""
    from repoassay.model_proxy import known_upstreams

    known = known_upstreams()[provider]
    address = _own_address(provider)
    return known.model_copy(update={"base_url": address.rstrip("/")}) if address else known


def _own_address(provider: str) -> str:
    """Where the user has a provider's models served; empty at the vendor's own."""
    return os.environ.get(ASKED_MODELS[provider].settings[0], "").strip()


def _key(provider: str) -> str:
    return os.environ.get(_upstream(provider).key_env, "").strip()
