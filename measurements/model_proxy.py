"""The model proxy before a scripted upstream, beside a direct connection: calls a second, added latency, open streams.

Upstream, model proxy and client are processes of their own; the model proxy is one Python process, so one core at most.
Prints direct and through the model proxy in turn, several rounds, and their medians. `cpu` is the model proxy's own
processor time, which a busy machine does not blur: 1 / cpu a call is what one core can do.

    PYTHONPATH=tests python measurements/model_proxy.py [--calls 3000] [--streams 1000]
"""

from __future__ import annotations

import argparse
import asyncio
import json
import multiprocessing
import os
import statistics
import tempfile
import time
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import aiohttp

from fake_provider import FakeProvider
from repoassay.model_proxy import CallLimits, Dialogue, Upstream
from repoassay.model_proxy.server import Gateway

ROUNDS = 5
TURN = {
    "text": "x" * 240,
    "calls": [{"tool": "shell", "command": "ls"}],
    "usage": {"input": 900, "output": 80},
    "when": {"lacks": "slow"},
}
SLOW = {**TURN, "delay": 2.0, "when": {"contains": "slow"}}


def upstream(pipe: Connection) -> None:
    """A scripted model behind a socket."""
    with FakeProvider(Dialogue.model_validate({"turn": [TURN], "aside": [SLOW], "end": "loop"})) as stand_in:
        # The aside is for the streams that must all be open at once.
        pipe.send(stand_in.origin)
        pipe.recv()


def door(pipe: Connection, origin: str, folder: str) -> None:
    """The model proxy: Python, so one core at most."""
    ups = [Upstream(name="up", base_url=f"{origin}/v1")]
    with Gateway(ups, limits=CallLimits(concurrency=5000)) as gateway:
        entry = gateway.admit("bench", model="up/m", journal=Path(folder) / "usage.jsonl")
        urls = entry.urls(gateway.origin)
        pipe.send(f"{urls['chat']} {urls['messages']}")
        while pipe.recv() == "cpu":
            pipe.send((time.process_time(), entry.totals().calls))


def body(text: str, *, stream: bool) -> bytes:
    """A request of about 8 KB, as an agent's third or fourth turn is."""
    schema = {"type": "object", "properties": {"command": {"type": "string"}}, "required": ["command"]}
    tools = [{"type": "function", "function": {"name": "bash", "parameters": schema}}]
    messages = [{"role": "system", "content": "word " * 1500}, {"role": "user", "content": text}]
    return json.dumps({"model": "m", "stream": stream, "messages": messages, "tools": tools}).encode()


def messages_body(text: str) -> bytes:
    """The same request as an agent of another dialect says it, which is translated for the upstream."""
    schema = {"type": "object", "properties": {"command": {"type": "string"}}, "required": ["command"]}
    tools = [{"name": "bash", "input_schema": schema}]
    messages = [{"role": "user", "content": text}]
    whole = {"model": "m", "max_tokens": 900, "system": "word " * 1500, "messages": messages, "tools": tools}
    return json.dumps(whole).encode()


async def calls(session: aiohttp.ClientSession, url: str, count: int, at_once: int) -> tuple[float, list[float]]:
    """Calls a second, and each call's seconds."""
    foreign = not url.endswith("/v1")
    payload = messages_body("go") if foreign else body("go", stream=False)
    url = f"{url}/v1/messages" if foreign else f"{url}/chat/completions"
    read = "input_tokens" if foreign else "prompt_tokens"
    spent, left = [], iter(range(count))

    async def worker() -> None:
        for _ in left:
            begin = time.perf_counter()
            async with session.post(url, data=payload, headers=JSON) as response:
                assert (await response.json())["usage"][read] == 900
            spent.append(time.perf_counter() - begin)

    begin = time.perf_counter()
    await asyncio.gather(*(worker() for _ in range(at_once)))
    return count / (time.perf_counter() - begin), spent


JSON = {"Content-Type": "application/json"}


async def streams(session: aiohttp.ClientSession, url: str, count: int) -> tuple[int, float, list[float]]:
    """How many of `count` streams opened together ended whole; seconds in all; seconds to each first chunk."""
    payload, firsts, whole = body("slow", stream=True), [], 0

    async def one() -> None:
        nonlocal whole
        begin = time.perf_counter()
        async with session.post(f"{url}/chat/completions", data=payload, headers=JSON) as response:
            first, last = 0.0, b""
            async for chunk in response.content.iter_any():
                first = first or time.perf_counter() - begin
                last = chunk
            firsts.append(first)
            whole += last.rstrip().endswith(b"[DONE]")

    begin = time.perf_counter()
    await asyncio.gather(*(one() for _ in range(count)))
    return whole, time.perf_counter() - begin, firsts


async def measure(direct: str, through: str, translated: str, pipe: Connection, options: argparse.Namespace) -> None:
    """Run and print everything."""

    def cpu() -> tuple[float, int]:
        pipe.send("cpu")
        told: tuple[float, int] = pipe.recv()
        return told

    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:
        await calls(session, direct, 100, 4)
        await calls(session, through, 100, 4)
        rates: dict[str, list[float]] = {"direct": [], "gateway": []}
        single: dict[str, list[float]] = {"direct": [], "gateway": [], "translated": []}
        used: list[float] = []
        for _ in range(ROUNDS):
            for name, url in (("direct", direct), ("gateway", through)):
                before = cpu()
                rate, _ = await calls(session, url, options.calls // ROUNDS, 16)
                after = cpu()
                rates[name].append(rate)
                if name == "gateway":
                    used.append((after[0] - before[0]) / (after[1] - before[1]))
        for _ in range(4 * ROUNDS):  # short and in turn, so that both meet the same load
            for name, url in (("direct", direct), ("gateway", through), ("translated", translated)):
                _, spent = await calls(session, url, 50, 1)
                single[name].append(statistics.median(spent))
        added = [1000 * (b - a) for a, b in zip(single["direct"], single["gateway"], strict=True)]
        print(f"load average {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors")
        for name in ("direct", "gateway"):
            print(
                f"{name:8} {statistics.median(rates[name]):7.0f} calls/s, 16 at once; "
                f"{1000 * statistics.median(single[name]):.2f} ms a call, one at a time (median)"
            )
        cost, middle = statistics.median(used), statistics.median(added)
        print(f"gateway  {1000 * cost:.2f} ms cpu a call = {1 / cost:.0f} calls/s a core")
        print(f"gateway  {middle:.2f} ms added latency (median of {len(added)} rounds, least {min(added):.2f})")
        more = [1000 * (b - a) for a, b in zip(single["direct"], single["translated"], strict=True)]
        print(f"gateway  {statistics.median(more):.2f} ms added latency with a translation (least {min(more):.2f})")
        for name, url in (("direct", direct), ("gateway", through)):
            whole, seconds, firsts = await streams(session, url, options.streams)
            print(
                f"{name:8} {whole}/{options.streams} streams at once ended whole in {seconds:.1f} s; "
                f"first chunk after {statistics.median(firsts):.2f} s (median; the model thinks for 2 s)"
            )


def main() -> None:
    """Start the processes, measure, stop them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--calls", type=int, default=3000)
    parser.add_argument("--streams", type=int, default=1000)
    options = parser.parse_args()
    context = multiprocessing.get_context("spawn")
    with tempfile.TemporaryDirectory() as folder:
        ends: list[tuple[Connection, Any]] = []

        def start(target: Any, *arguments: str) -> tuple[Connection, str]:
            here, there = context.Pipe()
            process = context.Process(target=target, args=(there, *arguments), daemon=True)
            process.start()
            ends.append((here, process))
            told: str = here.recv()
            return here, told

        _, origin = start(upstream)
        pipe, urls = start(door, origin, folder)
        through, translated = urls.split()
        asyncio.run(measure(f"{origin}/v1", through, translated, pipe, options))
        for end, process in reversed(ends):
            end.send("stop")
            process.join()


if __name__ == "__main__":
    main()
