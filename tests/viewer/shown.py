# SPDX-License-Identifier: Apache-2.0
"""The page of `flitwarp view` in a browser, and what it has drawn."""

import json
import time
import urllib.request
from contextlib import contextmanager

from viewed import View


def ask(address, path, body=None):
    """The program's answer at api/PATH; a body makes it a POST."""
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(f"{address}api/{path}", data, {"Content-Type": "application/json"} if data else {})
    with urllib.request.urlopen(request, timeout=30) as answer:
        return json.load(answer)


def wait_for(condition, seconds=15):
    """What a condition gives once it gives something."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        found = condition()
        if found:
            return found
        time.sleep(0.02)
    raise AssertionError(f"{condition} has waited {seconds} s in vain")


class Page:
    """The viewer in a browser's window."""

    def __init__(self, window, address, tour=False):
        self.window, self.address = window, address
        window.open("about:blank")
        window.console()
        window.open(address)
        wait_for(lambda: window.run("return window.flitwarp?.isReady"))
        if not tour:
            window.run("document.getElementById('tour-end')?.click()")

    def leave(self, refused=()):
        """Nothing may have been complained of meanwhile but refusals of these; then its program can end without being missed."""
        complaints = [text for text in self.window.console() if not any(f"api/{path}" in text for path in refused)]
        self.window.open("about:blank")
        assert not complaints, complaints

    def drawn(self):
        """What is on the screen, once nothing moves there any more."""
        return wait_for(lambda: self.window.run("const d = window.flitwarp.drawn(); return d.isSettled ? d : null"))

    def at(self, tick):
        """The same, at a tick."""
        wait_for(lambda: self.window.run("return window.flitwarp.drawn().now") == tick)
        return self.drawn()

    def go_to(self, tick):
        self.window.run("""const field = document.getElementById('go-to'); field.value = arguments[0];
                           field.form.requestSubmit()""", tick)

    def find_router(self, name):
        """By the search field; it is close up then."""
        self.window.run("document.getElementById('search').focus()")
        self.window.type("#search", f"{name}\ue007")
        wait_for(lambda: self.window.run("return window.flitwarp.drawn().level") == "near")

    def press(self, keys):
        """To the page as a whole, not to a field."""
        self.window.run("document.activeElement?.blur()")
        self.window.type("body", keys)

    def text(self, selector):
        return " ".join(self.window.texts(selector))

    def colours_at(self, points):
        """Of the network's canvas, "#rrggbb" each."""
        return self.window.run("""
            const canvas = document.getElementById('network'), ratio = canvas.width / canvas.clientWidth;
            const copy = new OffscreenCanvas(canvas.width, canvas.height).getContext('2d', {willReadFrequently: true});
            copy.drawImage(canvas, 0, 0);
            const at = ([x, y]) => [...copy.getImageData(Math.round(x * ratio), Math.round(y * ratio), 1, 1).data].slice(0, 3);
            return arguments[0].map((point) => '#' + at(point).map((value) => value.toString(16).padStart(2, '0')).join(''))""", points)


def flits_of_engine(frame):
    """Where each flit is: in a router's buffer or on a channel."""
    places = []
    for router, state in frame["detail"].items():
        for kind in ("input", "output"):
            for lane in state[kind + "s"]:
                flits = [(packet, position + i) for packet, position, _, count in lane["flits"] for i in range(count)]
                places += [(kind, int(router), lane["port"], lane["vc"], slot, *flit) for slot, flit in enumerate(flits)]
    places += [("channel", channel, vc, packet, position) for channel, vc, packet, position, *_ in frame["links"]]
    return sorted(places, key=str)


def flits_of_page(drawn):
    """The same of what is drawn."""
    places = []
    for flit in drawn["flits"]:
        where = flit["where"]
        kind = where["kind"]
        place = (where["channel"], where["vc"]) if kind == "channel" else (where["router"], where["port"], where["vc"], where["slot"])
        places.append((kind, *place, flit["packet"], flit["position"]))
    return sorted(places, key=str)


@contextmanager
def viewed(window, *arguments, tour=False):
    """The page of a view of its own, while the block runs."""
    with View(*arguments) as view:
        page = Page(window, view.address, tour)
        yield page
        page.leave()
