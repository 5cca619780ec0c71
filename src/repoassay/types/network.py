"""What an agent may reach of the network."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Self

from pydantic import Field, model_validator

from repoassay.types.base import Record
from repoassay.types.fields import HostName

__all__ = ["NetworkPolicy", "NetworkRule"]


class NetworkPolicy(StrEnum):
    """What an agent reaches: nothing; its model; its model and package indexes; everything this machine does."""

    NONE = "none"
    MODEL = "model"
    PACKAGES = "packages"
    OPEN = "open"


class NetworkRule(Record):
    """What an agent reaches; without a policy the task's kind decides.

    `hosts` are declared beside the package indexes: `NAME`, `NAME:PORT`, or `*.SUFFIX` for every name below one.
    """

    policy: NetworkPolicy | None = None
    hosts: Annotated[tuple[HostName, ...], Field(max_length=64)] = ()

    @model_validator(mode="after")
    def _hosts_are_asked_for(self) -> Self:
        if self.hosts and self.policy not in (None, NetworkPolicy.PACKAGES):
            raise ValueError(f"has hosts, which the policy {self.policy} does not reach; use packages or remove them")
        return self
