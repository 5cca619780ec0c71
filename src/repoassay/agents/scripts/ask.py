"""Inside the sandbox: ask the attempt's model, through the model proxy, the only way there is.

Standard input is the body of the request but for the model, standard output the reply. Runs on every Python a task may
have.
"""

from __future__ import annotations

import json
import os
import sys
import urllib.error
import urllib.request

LARGEST = 32 * 2**20


def main() -> str:
    """Ask; returns what went wrong, if anything did."""
    if "OPENAI_BASE_URL" not in os.environ:
        return "this agent was given no model; name one, such as model='openai/gpt-5'"
    url = os.environ["OPENAI_BASE_URL"].rstrip("/") + "/chat/completions"
    body = dict(json.loads(sys.stdin.buffer.read().decode()), model=os.environ["REPOASSAY_MODEL"])
    headers = {"Content-Type": "application/json", "Authorization": "Bearer " + os.environ["OPENAI_API_KEY"]}
    question = urllib.request.Request(url, json.dumps(body).encode(), headers)  # noqa: S310 - the model proxy
    try:
        with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(question) as answer:
            sys.stdout.buffer.write(answer.read(LARGEST))
    except urllib.error.HTTPError as error:
        with error:
            why = error.read(1000).decode("utf-8", "replace")
            return f"the model answered {error.code}: {why}"
    except OSError as error:
        return str(error)
    return ""


if __name__ == "__main__":
    sys.exit(main() or 0)
