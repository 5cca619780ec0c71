"""An agent that speaks the Agent Client Protocol and uses all of its client: for tests, without a model."""

import itertools
import json
import sys

numbers = itertools.count(100)


def send(message):
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)


def ask(method, **params):
    number = next(numbers)
    send({"id": number, "method": method, "params": {"sessionId": "s1", **params}})
    for line in sys.stdin:
        message = json.loads(line)
        if message.get("id") == number:
            return message
    raise SystemExit(3)


def update(what, **more):
    send({"method": "session/update", "params": {"sessionId": "s1", "update": {"sessionUpdate": what, **more}}})


def said(text, kind="agent_message_chunk"):
    update(kind, content={"type": "text", "text": text})


def turn(prompt):
    folder = sys.argv[1]
    said("I think.", "agent_thought_chunk")
    said("I run ")
    said("a command.")
    made = ask("terminal/create", command="sh", args=["-c", "echo out; echo err >&2; exit 3"], cwd=folder)["result"]
    update(
        "tool_call",
        toolCallId="a",
        title="`echo out`",
        kind="execute",
        status="in_progress",
        content=[{"type": "terminal", **made}],
    )
    ended = ask("terminal/wait_for_exit", **made)["result"]
    output = ask("terminal/output", **made)["result"]
    assert sorted(output["output"].split()) == ["err", "out"] and output["exitStatus"] == ended, output
    ask("terminal/release", **made)
    update("tool_call_update", toolCallId="a", status="failed" if ended["exitCode"] else "completed")
    allowed = ask(
        "session/request_permission",
        toolCall={"toolCallId": "b"},
        options=[
            {"optionId": "no", "kind": "reject_once", "name": "No"},
            {"optionId": "yes", "kind": "allow_once", "name": "Yes"},
        ],
    )["result"]["outcome"]
    assert allowed == {"outcome": "selected", "optionId": "yes"}, allowed
    path = folder + "/new/file.txt"
    diff = {"type": "diff", "path": path, "oldText": None, "newText": "one\ntwo\nthree\n"}
    update("tool_call", toolCallId="b", title="write", kind="edit", status="pending", content=[diff])
    assert "result" in ask("fs/write_text_file", path=path, content=diff["newText"])
    assert ask("fs/read_text_file", path=path, line=2, limit=1)["result"]["content"] == "two\n"
    update(
        "tool_call_update",
        toolCallId="b",
        status="completed",
        content=[diff, {"type": "content", "content": {"type": "text", "text": "written"}}],
    )
    assert ask("fs/read_text_file", path=folder + "/none")["error"]["code"] == -32603
    assert ask("terminal/output", terminalId="none")["error"]["code"] == -32602
    assert ask("elicitation/create")["error"]["code"] == -32601
    long = ask("terminal/create", command="sleep 600")["result"]
    ask("terminal/kill", **long)
    said("Done: " + prompt)


print("a line that is no message", flush=True)
signed_in = False
for line in sys.stdin:
    message = json.loads(line)
    method, params = message.get("method"), message.get("params", {})
    answer = {"result": {}}
    if method == "initialize":
        assert params["clientCapabilities"]["terminal"] is True
        about = {"name": "program", "version": "7.1"}
        answer = {"result": {"protocolVersion": 1, "agentInfo": about, "authMethods": [{"id": "x"}, {"id": "key"}]}}
    elif method == "authenticate":
        signed_in = params["methodId"] == "key"
        answer = answer if signed_in else {"error": {"code": -32000, "message": "not this way"}}
    elif method == "session/new":
        answer = {"result": {"sessionId": "s1"}} if signed_in else {"error": {"code": -32000, "message": "sign in"}}
    elif method == "session/prompt":
        if "refuse" in sys.argv:
            answer = {"error": {"code": -32603, "message": "no model"}}
        elif "vanish" in sys.argv:
            sys.exit(9)
        else:
            turn(params["prompt"][0]["text"])
            answer = {"result": {"stopReason": "end_turn"}}
    send({"id": message["id"], **answer})
