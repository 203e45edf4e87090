# SPDX-License-Identifier: Apache-2.0
"""A headless Chromium to test pages with: WebDriver, spoken with the standard library alone."""

import base64
import json
import shutil
import socket
import subprocess
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
DRIVER = shutil.which("chromedriver")
MISSING = " and ".join(name for name, found in (("chromium", CHROMIUM), ("chromium-driver", DRIVER)) if not found)
ELEMENT = "element-6066-11e4-a52e-4f735466cecf"  # how the protocol marks an element


class Browser:
    """One window. Use it in a `with` block."""

    def __init__(self, width=1280, height=900):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        self.folder = tempfile.TemporaryDirectory(prefix="flitwarp-browser-")
        self.process = subprocess.Popen([DRIVER, f"--port={port}"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.base = f"http://127.0.0.1:{port}"
        try:
            self._wait_for_driver()
            flags = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars",
                     "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update",
                     "--disable-sync", "--force-prefers-reduced-motion", f"--user-data-dir={self.folder.name}/profile",
                     f"--window-size={width},{height}"]
            options = {"binary": CHROMIUM, "args": flags, "prefs": {"download.default_directory": self.folder.name}}
            session = self._ask("POST", "/session", {"capabilities": {"alwaysMatch": {
                "goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL"}}}})
            self.base += f"/session/{session['sessionId']}"
        except BaseException:
            self.close()
            raise

    def _wait_for_driver(self):
        for _ in range(100):
            try:
                if self._ask("GET", "/status")["ready"]:
                    return
            except OSError:
                time.sleep(0.05)
        raise TimeoutError("chromedriver does not answer")

    def _ask(self, method, path, body=None):
        request = urllib.request.Request(self.base + path, None if body is None else json.dumps(body).encode(),
                                         {"Content-Type": "application/json"}, method=method)
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            raise RuntimeError(json.load(error)["value"]["message"]) from None

    def close(self):
        if "/session/" in self.base:
            self._ask("DELETE", "")
        self.process.terminate()
        self.process.wait()
        self.folder.cleanup()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def open(self, url):
        self._ask("POST", "/url", {"url": url})

    def run(self, script, *arguments):
        """What a script, a function's body, returns."""
        return self._ask("POST", "/execute/sync", {"script": script, "args": list(arguments)})

    def find(self, selector):
        return self._ask("POST", "/element", {"using": "css selector", "value": selector})[ELEMENT]

    def click(self, selector):
        self._ask("POST", f"/element/{self.find(selector)}/click", {})

    def type(self, selector, text):
        self._ask("POST", f"/element/{self.find(selector)}/value", {"text": text})

    def press(self, key):
        """A key, wherever the focus is."""
        self._ask("POST", "/actions", {"actions": [{"type": "key", "id": "keys", "actions": [
            {"type": "keyDown", "value": key}, {"type": "keyUp", "value": key}]}]})

    def back(self):
        self._ask("POST", "/back", {})

    def texts(self, selector):
        """The text of every element that the selector finds."""
        return self.run("return [...document.querySelectorAll(arguments[0])].map(e => e.textContent)", selector)

    def console(self):
        """What the page complained about since the last call."""
        return [entry["message"] for entry in self._ask("POST", "/se/log", {"type": "browser"})]

    def tell(self, command, **parameters):
        """A command of Chromium's own protocol, such as Emulation.setEmulatedMedia."""
        return self._ask("POST", "/goog/cdp/execute", {"cmd": command, "params": parameters})

    def picture(self, path):
        Path(path).write_bytes(base64.b64decode(self._ask("GET", "/screenshot")))
