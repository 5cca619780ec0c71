"""Which upstreams there are: the vendors' own, local servers, and what a user's TOML file adds.

::

    [upstream.mine]
    base_url = "http://10.0.0.5:8000/v1"  # as the vendor's own client wants it: OpenAI's ends in /v1, others do not
    dialects = ["chat", "responses"]
    key_env = "MY_KEY"                     # environment variable of the harness; none for servers without keys
    concurrency = 8                        # calls under way at once, over all attempts
    output_field = "max_tokens"            # what it calls the limit of an answer in chat completions
    translate = true                       # whether agents of other dialects may use it, through a translation
    reasoning = false                      # whether that may say how hard to think (reasoning_effort and the like)
    tells_cost = false                     # whether its answers say what they cost, as OpenRouter's and LiteLLM's do
    allow = ["web_search"]                 # fields and kinds of tools by which the vendor may act for the agent
    headers = { x-team = "evals" }
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

from pydantic import Field, ValidationError, field_validator

from repoassay.errors import BadInput
from repoassay.model_proxy.vendors import VENDORS
from repoassay.types import Record

__all__ = ["Upstream", "known_upstreams", "split_model"]


class Upstream(Record):
    """Where calls of some dialects go and which environment variable holds the key; never the key itself."""

    name: str = Field(pattern=r"[a-z0-9][a-z0-9_-]*")
    base_url: str
    dialects: tuple[str, ...] = ("chat",)
    key_env: str = ""
    concurrency: int | None = Field(default=None, ge=1)
    headers: dict[str, str] = Field(default_factory=dict)
    output_field: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    translate: bool = True
    reasoning: bool = False
    tells_cost: bool = False
    allow: tuple[str, ...] = ()

    @field_validator("base_url")
    @classmethod
    def _plain(cls, value: str) -> str:
        parts = urlsplit(value)
        if parts.scheme not in {"http", "https"} or not parts.hostname or parts.query or parts.fragment:
            raise ValueError("must be http(s)://host[:port][/path]")
        if parts.username or parts.password:
            raise ValueError("must not hold a user or password; use key_env or headers")
        return value.rstrip("/")

    @field_validator("dialects")
    @classmethod
    def _check_vendors(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        if not value or set(value) - set(VENDORS):
            raise ValueError(f"must name some of {', '.join(VENDORS)}")
        return value

    def serves(self, dialect: str) -> bool:
        """Whether an agent that speaks this dialect is answered here, be it through a translation."""
        return self.translate or dialect in self.dialects

    def key(self, environ: Mapping[str, str] | None = None) -> str:
        """The real key, empty when this upstream needs none.

        Raises:
            BadInput: The environment variable is not set.
        """
        value = (os.environ if environ is None else environ).get(self.key_env, "").strip() if self.key_env else ""
        if self.key_env and not value:
            raise BadInput(
                f"The upstream {self.name!r} needs the key in {self.key_env}.", f"Set {self.key_env} and run again."
            )
        return value


_BOTH = ("chat", "responses")
_BUILT_IN = (
    Upstream(
        name="openai",
        base_url="https://api.openai.com/v1",
        dialects=_BOTH,
        key_env="OPENAI_API_KEY",
        output_field="max_completion_tokens",
    ),
    Upstream(
        name="anthropic", base_url="https://api.anthropic.com", dialects=("messages",), key_env="ANTHROPIC_API_KEY"
    ),
    Upstream(
        name="gemini",
        base_url="https://generativelanguage.googleapis.com",
        dialects=("gemini",),
        key_env="GEMINI_API_KEY",
    ),
    Upstream(name="deepseek", base_url="https://api.deepseek.com/v1", key_env="DEEPSEEK_API_KEY"),
    Upstream(
        name="openrouter",
        base_url="https://openrouter.ai/api/v1",
        dialects=_BOTH,
        key_env="OPENROUTER_API_KEY",
        reasoning=True,
        tells_cost=True,
    ),
    Upstream(name="mistral", base_url="https://api.mistral.ai/v1", key_env="MISTRAL_API_KEY"),
    # Some versions of these speak more; all of them speak chat completions, with tools.
    Upstream(name="ollama", base_url="http://127.0.0.1:11434/v1"),
    Upstream(name="vllm", base_url="http://127.0.0.1:8000/v1"),
    Upstream(name="llamacpp", base_url="http://127.0.0.1:8080/v1"),
)


def known_upstreams(files: Iterable[Path] = ()) -> dict[str, Upstream]:
    """The built-in upstreams, with those of the user's files added or put in their place.

    Raises:
        BadInput: A file cannot be read or says something else.
    """
    known = {upstream.name: upstream for upstream in _BUILT_IN}
    for path in files:
        try:
            table = tomllib.loads(path.read_text("utf-8"))
            entries = table.pop("upstream", {})
            if table or not isinstance(entries, dict):
                raise BadInput(f"The file {path} holds something else than [upstream.NAME] tables.")
            for name, entry in entries.items():
                known[name] = Upstream.model_validate({"name": name, **entry})
        except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError, TypeError) as error:
            raise BadInput(f"The file of upstreams {path} cannot be read: {error}.") from error
        except ValidationError as error:
            first = error.errors()[0]
            raise BadInput(f"The file of upstreams {path}: {name}.{first['loc'][0]}: {first['msg']}.") from error
    return known


def split_model(model: str) -> tuple[str, str]:
    """Split `provider/name` at the first slash.

    Raises:
        BadInput: It has no provider or no name.
    """
    provider, slash, name = model.partition("/")
    if not slash or not provider or not name:
        raise BadInput(
            f"The model {model!r} does not name a provider.", "Write it as provider/name, such as openai/gpt-4.1."
        )
    return provider, name
