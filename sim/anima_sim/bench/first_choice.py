"""A scripted stand-in for a language model's server, where faults are measured and not what a model understands."""

from __future__ import annotations

import json
import re
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

_CHOICES = re.compile(r'root ::= ("[^"]*"(?: \| "[^"]*")*)\n')
_GO = re.compile(r'"go to the (\w+)"')
_NOTHING = "none."


def answer(grammar: str, asked: str) -> str:
    """The first of the choices that a grammar offers; an order to go somewhere is read as such; else nothing."""
    if choices := _CHOICES.fullmatch(grammar):
        return choices[1].split('"')[1]
    order = _GO.match(asked)
    return f"go({order[1]})" if order else _NOTHING


class _Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        text = answer(body.get("grammar", ""), body["messages"][-1]["content"])
        reply = json.dumps({"choices": [{"message": {"content": text}}]}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(reply)))
        self.end_headers()
        self.wfile.write(reply)

    def log_message(self, *_: Any) -> None:
        """Nothing: the console is for the figures."""


class FirstChoice:
    """Serves on a free port of this machine while it is entered; `address` is what `llm.server` takes."""

    def __init__(self) -> None:
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, name="first-choice", daemon=True)

    @property
    def address(self) -> str:
        """Where it answers."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> FirstChoice:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
