"""The model proxy: one loopback server through which every agent reaches every model.

It admits attempts, speaks the vendors' wire protocols, forwards to the configured upstream, and accounts for every
token, call and dollar; the real keys stay on this side. Knows types and JSON lines (`repoassay.records`), and shares
its event loop's thread with the package proxy. Knows nothing of agents, grading or runs: an attempt is an id, and what
it spent is a journal and totals.

`open_gateway` needs aiohttp and orjson, which the extra `agents` brings; everything else here works without.
"""

from __future__ import annotations

from repoassay.lazy import attach

TYPE_CHECKING = False
if TYPE_CHECKING:
    from repoassay.model_proxy.client import (
        BudgetSpent as BudgetSpent,
        ModelClient as ModelClient,
        NoAnswer as NoAnswer,
        UnreadableAnswer as UnreadableAnswer,
        costs_nothing as costs_nothing,
        find_upstream as find_upstream,
        open_budgeted as open_budgeted,
        open_model as open_model,
    )
    from repoassay.model_proxy.dialogue import Dialogue as Dialogue, Turn as Turn, read_dialogue as read_dialogue
    from repoassay.model_proxy.journal import CallJournal as CallJournal
    from repoassay.model_proxy.ledger import BudgetLedger as BudgetLedger, Reserve as Reserve
    from repoassay.model_proxy.limits import Budget as Budget, CallLimits as CallLimits
    from repoassay.model_proxy.price import Price as Price, Tier as Tier
    from repoassay.model_proxy.price_package import installed_prices as installed_prices
    from repoassay.model_proxy.prices import Prices as Prices, read_table as read_table, table_text as table_text
    from repoassay.model_proxy.reachable import (
        NOT_SERVED as NOT_SERVED,
        ask_once as ask_once,
        check_reachable as check_reachable,
    )
    from repoassay.model_proxy.scripted_provider import ScriptedUpstream as ScriptedUpstream
    from repoassay.model_proxy.server import Gateway as Gateway
    from repoassay.model_proxy.sessions import AS_ASKED as AS_ASKED, AttemptSession as AttemptSession
    from repoassay.model_proxy.start import check_extra as check_extra, open_gateway as open_gateway
    from repoassay.model_proxy.upstreams import (
        Upstream as Upstream,
        known_upstreams as known_upstreams,
        split_model as split_model,
    )
    from repoassay.model_proxy.vendors import VENDORS as VENDORS
    from repoassay.model_proxy.vendors.chat import Chat as Chat
    from repoassay.model_proxy.vendors.gemini import Gemini as Gemini
    from repoassay.model_proxy.vendors.messages import Messages as Messages
    from repoassay.model_proxy.vendors.protocol import ProviderTrouble as ProviderTrouble
    from repoassay.model_proxy.vendors.responses import Responses as Responses
else:
    __getattr__, __dir__ = attach(__name__)
