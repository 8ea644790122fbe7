"""A scripted HTTP server on this machine stands for the service."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

import wonrail
from wonrail import _transport


@dataclass
class Asked:
    method: str
    path: str
    headers: dict[str, str]
    body: Any


@dataclass
class Answer:
    status: int
    body: Any
    headers: dict[str, str] = field(default_factory=dict)
    promised_bytes: int | None = None
    """The length in the head, when the connection closes before the end."""
    breaks: bool = False
    """Closes the connection without an answer."""


class Service:
    def __init__(self, url: str) -> None:
        self.url = url
        self.asked: list[Asked] = []
        self.answers: list[Answer] = []

    def client(self, **options: Any) -> wonrail.Client:
        return wonrail.Client(base_url=self.url, api_key="wk_test_1", **options)

    def succeed(self, data: Any, status: int = 200) -> None:
        body = {"success": True, "data": data, "error": None, "requestId": "req_1", "timestamp": ""}
        self.answers.append(Answer(status, body))

    def refuse(
        self, status: int, code: str, details: Any = None, headers: dict[str, str] | None = None
    ) -> None:
        error = {"code": code, "message": "No.", "details": details}
        body = {"success": False, "data": None, "error": error, "requestId": "req_1", "timestamp": ""}
        self.answers.append(Answer(status, body, headers or {}))

    def break_connection(self) -> None:
        self.answers.append(Answer(0, None, breaks=True))


@pytest.fixture
def service() -> Iterator[Service]:
    class Handler(BaseHTTPRequestHandler):
        def answer(self) -> None:
            length = int(self.headers.get("Content-Length", 0))
            body = json.loads(self.rfile.read(length)) if length else None
            headers = {name.lower(): value for name, value in self.headers.items()}
            scripted.asked.append(Asked(self.command, self.path, headers, body))
            answer = scripted.answers.pop(0)
            if answer.breaks:
                self.close_connection = True
                return
            content = answer.body if isinstance(answer.body, str) else json.dumps(answer.body)
            self.send_response(answer.status)
            for name, value in answer.headers.items():
                self.send_header(name, value)
            if answer.promised_bytes is not None:
                self.send_header("Content-Length", str(answer.promised_bytes))
            self.end_headers()
            self.wfile.write(content.encode())

        do_GET = do_POST = do_PATCH = do_DELETE = answer

        def log_message(self, format: str, *args: Any) -> None:
            """Prints nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    scripted = Service(f"http://127.0.0.1:{server.server_port}")
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    yield scripted
    server.shutdown()
    server.server_close()


@pytest.fixture(autouse=True)
def short_delays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_transport, "FIRST_DELAY_SECONDS", 0.01)
