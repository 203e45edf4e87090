# SPDX-License-Identifier: Apache-2.0
"""`flitwarp view` as the tests start it, ask it and end it."""
import http.client
import json
import os
import re
import signal
import socket
import subprocess
from urllib.parse import urlsplit

import pytest

from support import PROGRAM, is_running

ASAN = os.environ.get("FLITWARP_ASAN", "")


class View:
    """A running viewer; ends with the block that it is used in."""

    def __init__(self, *arguments, program=PROGRAM):
        self.process = subprocess.Popen([program, "view", *map(str, arguments), "--no-open"], stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, text=True)
        self.address = self.process.stdout.readline().strip()
        if not self.address:
            message = self.process.communicate()[1]
            without = re.search("this flitwarp was built without [^;]*", message)
            if without:
                pytest.skip(without[0])
            raise AssertionError(message)
        parts = urlsplit(self.address)
        self.port, self.host, self.home = parts.port, parts.netloc, parts.path
        self.connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)

    def ask(self, method, path, body=None, **headers):
        """Any request below the token: status and body."""
        return self.ask_at(method, self.home + path, body, **headers)

    def ask_at(self, method, path, body=None, **headers):
        headers = {name.replace("_", "-"): value for name, value in headers.items()}
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        try:
            connection.request(method, path, body, headers)
            answer = connection.getresponse()
            return answer.status, answer.read(), answer.headers
        finally:
            connection.close()

    def get(self, path):
        return self._answer("GET", path)

    def post(self, path, **body):
        return self._answer("POST", path, json.dumps(body), {"Content-Type": "application/json"})

    def _answer(self, *request):
        """The server ends connections that were idle for a second; browsers try once more then, and so does this."""
        try:
            return self._answer_at_once(*request)
        except (http.client.RemoteDisconnected, ConnectionResetError, BrokenPipeError):
            self.connection.close()
            return self._answer_at_once(*request)

    def _answer_at_once(self, method, path, *rest):
        self.connection.request(method, self.home + path, *rest)
        return json.loads(self.connection.getresponse().read())

    def step_to_end(self, cycles=100000):
        frame = self.post("api/step", cycles=cycles)
        while not frame["over"]:
            frame = self.post("api/step", cycles=cycles)
        return frame

    def raw(self, data, seconds=2):
        """Whatever comes back for these bytes, up to where the server closes or is silent."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=seconds) as connection:
            received = b""
            try:
                connection.sendall(data)
                while part := connection.recv(65536):
                    received += part
            except OSError:
                pass
            return received

    def end(self, by="quit"):
        """The exit status after being asked to end, by api/quit or a signal."""
        self.connection.close()
        if by == "quit":
            assert self.ask("POST", "api/quit", "{}", Content_Type="application/json")[0] == 200
        else:
            self.process.send_signal(getattr(signal, by))
        out, self.errors = self.process.communicate(timeout=30)
        assert not is_running(self.process.pid)
        return self.process.returncode

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        self.connection.close()
        if self.process.poll() is None:
            self.process.terminate()
        out, errors = self.process.communicate(timeout=30)
        if kind is None:
            assert self.process.returncode == 0, errors
