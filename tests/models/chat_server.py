"""A real server on this machine that speaks as much of OpenAI's chat protocol as a test wants, faults and all."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class Asked:
    """One request as it came in."""

    path: str
    headers: dict[str, str]
    body: dict[str, Any]
    at: float

    @property
    def text(self) -> str:
        """The text to translate: the last line of the last message."""
        return self.body["messages"][-1]["content"].splitlines()[-1]


@dataclass
class Reply:
    """What is sent back. pause: seconds before anything is sent. trickle: seconds between the bytes of the body."""

    body: Any = ""
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    pause: float = 0.0
    trickle: float = 0.0


def completion(content: str | None, finish: str = "stop", **more: Any) -> Reply:
    """A chat completion."""
    message = {"role": "assistant", "content": content}
    usage = {"prompt_tokens": 20, "completion_tokens": 5, "total_tokens": 25}
    return Reply({"choices": [{"index": 0, "message": message, "finish_reason": finish}], "usage": usage}, **more)


class ChatServer:
    """Answers with what *reply* makes of a request; remembers all requests, and how many were under way at once."""

    def __init__(self, reply: Callable[[Asked], Reply]):
        self.reply = reply
        self.asked: list[Asked] = []
        self.most_at_once = 0
        self._under_way = 0
        self._lock = threading.Lock()
        self.closing = threading.Event()
        self.url = ""

    def texts(self) -> list[str]:
        """The texts that were asked for, in the order in which they came in."""
        return [asked.text for asked in self.asked]

    def take(self, asked: Asked) -> Reply:
        with self._lock:
            self.asked.append(asked)
            self._under_way += 1
            self.most_at_once = max(self.most_at_once, self._under_way)
        try:
            reply = self.reply(asked)
            self.closing.wait(reply.pause)
            return reply
        finally:
            with self._lock:
                self._under_way -= 1


@contextmanager
def chat_server(reply: Callable[[Asked], Reply]) -> Iterator[ChatServer]:
    """A running server at ``server.url``."""
    server = ChatServer(reply)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def handle(self) -> None:
            with suppress(ConnectionError):  # who asked has lost patience
                super().handle()

        def do_POST(self) -> None:
            at = time.monotonic()
            content = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            asked = Asked(self.path, dict(self.headers.items()), json.loads(content) if content else {}, at)
            reply = server.take(asked)
            body = reply.body if isinstance(reply.body, bytes) else json.dumps(reply.body).encode()
            self.send_response(reply.status)
            for name, value in {"Content-Length": str(len(body)), **reply.headers}.items():
                self.send_header(name, value)
            self.end_headers()
            size = 1 if reply.trickle else max(1, len(body))
            for start in range(0, len(body), size):
                self.wfile.write(body[start : start + size])
                self.wfile.flush()
                if server.closing.wait(reply.trickle):
                    return

        def log_message(self, *arguments: object) -> None:
            """Nothing on the terminal."""

    http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    http.daemon_threads = True
    server.url = f"http://127.0.0.1:{http.server_address[1]}/v1"
    thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.closing.set()
        http.shutdown()
        http.server_close()
        thread.join()
