"""A server that speaks the OpenAI protocol can plan too; what it answers is checked all the same."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from anima.planner.llm.base import Completion, LlmError, Message, Request
from anima.planner.llm.server import Server

Reply = tuple[int, Any]


class Fake:
    """An HTTP server on the loopback that answers as `reply` says and keeps what it was asked."""

    def __init__(self, reply: Callable[[dict[str, Any]], Reply]) -> None:
        self.asked: list[dict[str, Any]] = []
        fake = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                fake.asked.append({"path": self.path, **body})
                status, data = reply(body)
                raw = data if isinstance(data, bytes) else json.dumps(data).encode()
                self.send_response(status)
                self.end_headers()
                self.wfile.write(raw)

            def log_message(self, format: str, *args: Any) -> None:
                pass

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f":{self.http.server_port}"
        threading.Thread(target=self.http.serve_forever, daemon=True).start()


@pytest.fixture
def serve() -> Iterator[Callable[[Callable[[dict[str, Any]], Reply]], Fake]]:
    fakes: list[Fake] = []

    def start(reply: Callable[[dict[str, Any]], Reply]) -> Fake:
        fakes.append(Fake(reply))
        return fakes[-1]

    yield start
    for fake in fakes:
        fake.http.shutdown()
        fake.http.server_close()


def ok(text: str) -> Reply:
    usage = {"prompt_tokens": 100, "completion_tokens": 4, "prompt_tokens_details": {"cached_tokens": 90}}
    return 200, {"choices": [{"message": {"role": "assistant", "content": text}}], "usage": usage}


def ask(address: str, budget_s: float = 5.0) -> Completion:
    server = Server(address, "some-model")
    pending = server.start(
        Request(
            role="act", messages=(Message("system", "s"), Message("user", "u")), stable=1,
            grammar='root ::= "dock()" | "undock()"', max_tokens=9, prefill_budget_s=budget_s / 2,
            decode_budget_s=budget_s / 2, choices=("dock()", "undock()"),
        )
    )
    while (done := pending.poll()) is None:
        time.sleep(0.01)
    server.close()
    return done


def test_the_grammar_travels_along_and_the_figures_come_back(serve: Any) -> None:
    fake = serve(lambda body: ok("dock()"))
    done = ask(fake.address)
    assert (done.text, done.error) == ("dock()", "")
    assert (done.prompt_tokens, done.cached_tokens, done.completion_tokens) == (100, 90, 4)
    assert fake.asked[0]["path"] == "/v1/chat/completions"
    assert "root ::=" in fake.asked[0]["grammar"]
    assert fake.asked[0]["temperature"] == 0


def test_a_server_without_grammars_is_asked_again_and_held_to_the_choices(serve: Any) -> None:
    fake = serve(lambda body: (400, {"error": "unknown field"}) if "grammar" in body else ok("undock()"))
    assert ask(fake.address).text == "undock()"
    assert len(fake.asked) == 2
    chatty = serve(lambda body: (400, {}) if "grammar" in body else ok("Sure! I will dock now."))
    done = ask(chatty.address)
    assert done.text == ""
    assert "none of the choices" in done.error


@pytest.mark.parametrize("reply", [(500, {"error": "boom"}), (200, {"no": "choices"}), (200, []), (200, b"<html>")])
def test_a_broken_server_is_an_error_of_the_turn(serve: Any, reply: Reply) -> None:
    done = ask(serve(lambda body: reply).address)
    assert done.text == ""
    assert done.error


def test_a_server_that_does_not_answer_costs_no_more_than_the_budget(serve: Any) -> None:
    release = threading.Event()

    def hang(body: dict[str, Any]) -> Reply:
        release.wait(20)
        return ok("dock()")

    done = ask(serve(hang).address, budget_s=0.5)
    release.set()
    assert "no usable answer" in done.error


def test_nobody_there_says_so() -> None:
    assert "is the server running" in ask("127.0.0.1:9").error


def test_an_address_that_is_none_is_refused_at_the_start() -> None:
    with pytest.raises(LlmError, match="http address"):
        Server("ftp://example", "m")
