"""The embedding model that Monjyu brings, over loopback, so that peers in environments of their own compare by it.

POST a JSON list of texts: their vectors as a JSON list; GET: the CPU seconds used so far. Prints its address.
"""

from __future__ import annotations

import json
import time
from http.server import BaseHTTPRequestHandler, HTTPServer

from monjyu_core.embedding import load_embedder
from monjyu_core.settings.settings import load_settings


class Embedding(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self._answer(time.process_time())

    def do_POST(self) -> None:
        texts = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self._answer(EMBEDDER.embed_passages(texts).tolist())

    def log_message(self, *_: object) -> None:
        """Nothing: one line a batch says nothing."""

    def _answer(self, value: object) -> None:
        content = json.dumps(value).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)


if __name__ == "__main__":
    EMBEDDER = load_embedder(load_settings())
    EMBEDDER.warm_up()
    server = HTTPServer(("127.0.0.1", 0), Embedding)
    print(f"http://127.0.0.1:{server.server_port}", flush=True)
    server.serve_forever()
