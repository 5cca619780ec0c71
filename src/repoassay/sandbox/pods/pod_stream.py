"""Streams into pods, connected as the official client does it, but to the API server alone.

That client follows redirects with the account's token, and what answers such a request is the node that runs the pod.
"""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode, urlsplit, urlunsplit

__all__ = ["connect_stream"]

_PROTOCOLS = ["v5.channel.k8s.io", "v4.channel.k8s.io"]
_TIMEOUT = 30


def connect_stream(configuration: Any, path: str, query: list[tuple[str, str]]) -> Any:
    """Connect a websocket of channels.

    Args:
        configuration: The client's: the API server's address, and how to show who we are.
        path: What is asked of it, such as `/api/v1/namespaces/NAME/pods/NAME/exec`.
        query: Parameters of that.

    Raises:
        ApiException: When the answer has another status, a redirect among them.
        ConnectionError: When none comes.
    """
    import certifi
    import websocket
    from kubernetes.client import ApiException
    from kubernetes.stream import ws_client

    parts = urlsplit(configuration.host)
    scheme = "wss" if parts.scheme == "https" else "ws"
    url = urlunsplit((scheme, parts.netloc, parts.path.rstrip("/") + path, urlencode(query), ""))
    shown = [f"{each['key']}: {each['value']}" for each in configuration.auth_settings().values()]
    client: Any = ws_client  # which has no types
    options = {
        "header": shown, "subprotocols": _PROTOCOLS, "redirect_limit": 0, "timeout": _TIMEOUT, "suppress_origin": True,
    }  # fmt: skip
    if configuration.proxy or configuration.proxy_headers:
        options = client.websocket_proxycare(options, configuration, url, {})
    connection: Any = websocket.WebSocket(sslopt=_tls(configuration, certifi.where()), skip_utf8_validation=True)
    try:
        connection.connect(url, **options)
    except websocket.WebSocketBadStatusException as error:
        answer: Any = ApiException(status=error.status_code, reason=error.status_message)
        answer.body = error.resp_body
        raise answer from None
    except websocket.WebSocketException as error:
        answered = connection.handshake_response
        if answered is not None:
            raise ApiException(status=answered.status, reason=str(error)) from None
        raise ConnectionError(str(error)) from None
    connection.settimeout(None)
    return connection


def _tls(configuration: Any, authorities: str) -> dict[str, Any]:
    import ssl

    options: dict[str, Any] = {"cert_reqs": ssl.CERT_NONE}
    if configuration.verify_ssl:
        options = {"cert_reqs": ssl.CERT_REQUIRED, "ca_certs": configuration.ssl_ca_cert or authorities}
        if configuration.assert_hostname is not None:
            options["check_hostname"] = configuration.assert_hostname
    files = {
        "certfile": configuration.cert_file, "keyfile": configuration.key_file,
        "server_hostname": configuration.tls_server_name,
    }  # fmt: skip
    return {**options, **{name: value for name, value in files.items() if value}}
