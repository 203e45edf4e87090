# SPDX-License-Identifier: Apache-2.0
"""The viewer's server answers those who know its address, and nobody else; it survives nonsense and ends when asked."""
import os
import random
import re
import resource
import socket
import subprocess
import time

import pytest

from support import PROGRAM, ROOT, children
from viewed import ASAN, View

SCENARIO = ROOT / "examples" / "view" / "03_torus_deadlock.json"
JSON = "application/json"


@pytest.fixture(scope="module")
def view():
    with View(SCENARIO) as view:
        yield view


def test_who_has_the_address_is_answered(view):
    status, _, headers = view.ask("GET", "api/frame", Host=f"localhost:{view.port}")
    assert status == 200
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Referrer-Policy"] == "no-referrer"
    assert headers["Cache-Control"] == "no-store"
    assert "default-src 'none'" in headers["Content-Security-Policy"]
    assert "frame-ancestors 'none'" in headers["Content-Security-Policy"]
    assert "Access-Control-Allow-Origin" not in headers


def test_it_listens_on_the_loopback_interface_alone(view):
    listening = [line.split()[1] for line in open("/proc/net/tcp").readlines()[1:] if line.split()[3] == "0A"]
    ours = [address for address in listening if int(address.split(":")[1], 16) == view.port]
    assert ours == [f"0100007F:{view.port:04X}"]


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1", "127.0.0.1:1", "localhost.evil.example", ""])
def test_other_hosts_are_refused(view, host):
    host = host.replace("localhost.evil.example", f"localhost.evil.example:{view.port}")
    status, body, _ = view.ask("GET", "api/frame", Host=host)
    assert status == 421 and b"occupancy" not in body


def test_a_request_without_a_host_is_refused(view):
    answer = view.raw(f"GET {view.home}api/frame HTTP/1.1\r\n\r\n".encode())
    assert b"occupancy" not in answer and answer.split()[1:2] in ([b"400"], [b"421"], [])


@pytest.mark.parametrize("path", ["/", "/api/frame", "/index.html", "/{wrong}/api/frame", "/{short}/", "/{home}"])
def test_without_the_token_there_is_nothing(view, path):
    token = view.home.strip("/")
    wrong = token[:-1] + ("0" if token[-1] != "0" else "1")
    status, body, _ = view.ask_at("GET", path.format(wrong=wrong, short=token[:-1], home=token))
    assert status == 403 and b"occupancy" not in body


@pytest.mark.parametrize("path", ["../../etc/passwd", "..%2f..%2fetc/passwd", "%2e%2e/%2e%2e/etc/passwd", "//etc/passwd",
                                  "./api/frame", "api/../api/frame", "..\\..\\etc\\passwd", "api/frame%00", "/etc/passwd"])
def test_paths_lead_nowhere_else(view, path):
    answer = view.raw(f"GET {view.home}{path} HTTP/1.1\r\nHost: {view.host}\r\nConnection: close\r\n\r\n".encode())
    assert 400 <= int(answer.split()[1]) < 500
    assert b"root:" not in answer and b"occupancy" not in answer


def test_unknown_paths_are_not_found(view):
    assert view.ask("GET", "api/nothing")[0] == 404
    assert view.ask("GET", "main.c")[0] == 404


@pytest.mark.parametrize("method", ["PUT", "DELETE", "HEAD", "OPTIONS", "PATCH", "TRACE", "CONNECT"])
def test_other_methods_are_refused(view, method):
    status, body, _ = view.ask(method, "api/frame")
    assert 400 <= status < 500 and b"occupancy" not in body


def test_get_and_post_do_not_stand_for_each_other(view):
    assert view.ask("GET", "api/step")[0] == 405
    assert view.ask("GET", "api/quit")[0] == 405
    assert view.ask("POST", "api/frame", "{}", Content_Type=JSON)[0] == 405


def test_large_bodies_are_refused(view):
    status, _, _ = view.ask("POST", "api/step", '{"cycles": 0, "x": "%s"}' % ("y" * 65000), Content_Type=JSON)
    assert status == 200
    before = view.get("api/frame")["now"]
    head = f"POST {view.home}api/step HTTP/1.1\r\nHost: {view.host}\r\nContent-Type: {JSON}\r\n"
    assert b" 413 " in view.raw((head + "Content-Length: 65537\r\n\r\n").encode() + b"{" * 1000)
    assert b" 413 " in view.raw((head + "Content-Length: 9999999999999\r\n\r\n").encode())
    answer = view.raw((head + "Transfer-Encoding: chunked\r\n\r\nf\r\n{\"cycles\": 10 }\r\n0\r\n\r\n").encode())
    assert b" 411 " in answer or b" 400 " in answer
    assert view.get("api/frame")["now"] == before


@pytest.mark.parametrize("kind", [None, "text/plain", "application/x-www-form-urlencoded", "application/jsonp"])
def test_what_a_foreign_page_can_send_is_refused(view, kind):
    before = view.get("api/frame")["now"]
    headers = {"Content_Type": kind} if kind else {}
    assert view.ask("POST", "api/step", '{"cycles": 1}', **headers)[0] == 415
    assert view.get("api/frame")["now"] == before


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "https://127.0.0.1:{port}", "http://127.0.0.1:1"])
def test_foreign_origins_are_refused(view, origin):
    headers = {"Origin": origin.format(port=view.port), "Content_Type": JSON}
    assert view.ask("POST", "api/step", '{"cycles": 1}', **headers)[0] == 403
    assert view.ask("GET", "api/frame", **headers)[0] == 403


def test_our_own_origin_is_accepted(view):
    assert view.ask("POST", "api/step", '{"cycles": 0}', Origin=f"http://{view.host}", Content_Type=JSON)[0] == 200


@pytest.mark.parametrize("body", ["", "{", "[]", "1", '{"cycles": -1}', '{"cycles": 1.5}', '{"cycles": "1"}', '{"cycles": 1e300}',
                                  "{}", '{"packet": "12"}', '{"packet": 1}', '{"router": 25}', "\0", "[" * 5000])
def test_wrong_steps_are_told_so(view, body):
    before = view.get("api/frame")["now"]
    status, answer, _ = view.ask("POST", "api/step", body, Content_Type=JSON)
    assert status == 400 and b'"ok":false' in answer
    assert view.get("api/frame")["now"] == before


@pytest.mark.parametrize("path", ["api/frame?routers=25", "api/frame?routers=x", "api/frame?routers=1,,2", "api/frame?routers=1,1", "api/router?id=-1",
                                  "api/router", "api/packet?id=1", "api/packet?id=999.0", "api/series?from=x",
                                  "api/frame?routers=" + ",".join(["1"] * 65)])
def test_wrong_questions_are_told_so(view, path):
    status, answer, _ = view.ask("GET", path)
    assert status == 400 and b'"ok":false' in answer


def nonsense(view, chance):
    """One malformed request: a good one that was cut, bent or stuffed, or bytes that never were one."""
    good = (f"POST {view.home}api/step HTTP/1.1\r\nHost: {view.host}\r\nContent-Type: {JSON}\r\nContent-Length: 13\r\n"
            "\r\n{\"cycles\": 1}").encode()
    kind = chance.randrange(6)
    if kind == 0:
        return good[:chance.randrange(1, len(good) - 1)]
    if kind == 1:
        bent = bytearray(good)
        for _ in range(chance.randrange(1, 12)):
            bent[chance.randrange(len(bent))] = chance.randrange(256)
        return bytes(bent)
    if kind == 2:
        return bytes(chance.randrange(256) for _ in range(chance.randrange(1, 400)))
    if kind == 3:
        return b"GET " + b"A" * chance.randrange(1, 40000) + b" HTTP/1.1\r\n\r\n"
    if kind == 4:
        many = b"".join(b"X-%d: y\r\n" % i for i in range(chance.randrange(1, 300)))
        return f"GET {view.home}api/frame HTTP/1.1\r\nHost: {view.host}\r\n".encode() + many + b"\r\n"
    return good.replace(b"Content-Length: 13", b"Content-Length: " + chance.choice([b"-1", b"0x10", b"99999", b"1e3", b"", b"13, 13"]))


def shower(view, count):
    chance = random.Random(9)
    for _ in range(count):
        with socket.create_connection(("127.0.0.1", view.port), timeout=5) as connection:
            connection.settimeout(0.02)
            try:
                connection.sendall(nonsense(view, chance))
                connection.shutdown(socket.SHUT_WR)
                connection.recv(4096)
            except OSError:
                pass


def test_it_survives_a_thousand_malformed_requests(view):
    shower(view, 1000)
    frame = view.get("api/frame?routers=3")
    assert frame["ok"] and "3" in frame["detail"]


@pytest.mark.parametrize("by", ["quit", "SIGINT", "SIGTERM"])
def test_it_ends_when_asked_and_leaves_no_process(by):
    view = View(SCENARIO)
    view.post("api/step", cycles=10)
    assert children(view.process.pid) == []
    assert view.end(by) == 0
    assert view.errors == "" or "without the viewer's page" in view.errors
    with pytest.raises(OSError):
        socket.create_connection(("127.0.0.1", view.port), timeout=1)


def test_the_desktop_s_browser_is_given_the_address(tmp_path):
    """Where there is a desktop: a script stands for what opens pages there."""
    with View(SCENARIO) as view:
        if view.ask("GET", "")[0] != 200:
            pytest.skip("flitwarp is built without the viewer's page")
    opener, opened = tmp_path / "xdg-open", tmp_path / "opened"
    opener.write_text(f'#!/bin/sh\necho "$1" > {opened}.part && mv {opened}.part {opened}\n')
    opener.chmod(0o755)
    environment = {**os.environ, "DISPLAY": ":9", "PATH": f"{tmp_path}:{os.environ['PATH']}"}
    with subprocess.Popen([PROGRAM, "view", SCENARIO], stdout=subprocess.PIPE, text=True, env=environment) as process:
        address = process.stdout.readline()
        until = time.monotonic() + 30
        while not opened.exists() and time.monotonic() < until:
            time.sleep(0.02)
        process.terminate()
    assert process.returncode == 0 and opened.read_text() == address


@pytest.mark.parametrize("command", ["view", "trace-info", "trace-convert"])
def test_help_is_the_usage(command):
    ended = subprocess.run([PROGRAM, command, "--help"], capture_output=True, text=True, check=True)
    assert ended.stdout.startswith(f"usage: flitwarp {command} ") and not ended.stderr


def test_a_restart_that_memory_is_too_short_for_is_refused():
    with View(SCENARIO) as view:
        resource.prlimit(view.process.pid, resource.RLIMIT_AS, (110 << 20, 110 << 20))
        answer = view.post("api/restart", overrides=["network.topology.widths=[60,60]", "network.router.buffer_depth=512"])
        assert re.fullmatch("this does not fit into memory: .*out of memory: .* bytes were needed", answer["errors"][0])
        assert view.get("api/frame")["ok"] and view.post("api/restart", overrides=["network.topology.widths=[6,6]"])["ok"]


def test_who_says_nothing_keeps_nobody_waiting(view):
    silent = [socket.create_connection(("127.0.0.1", view.port)) for _ in range(40)]
    assert b'"ok":true' in view.raw(f"GET {view.home}api/frame HTTP/1.1\r\nHost: {view.host}\r\nConnection: close\r\n\r\n".encode(), seconds=4)
    for connection in silent:
        connection.close()


def test_it_ends_while_somebody_holds_a_connection_open():
    view = View(SCENARIO)
    with socket.create_connection(("127.0.0.1", view.port)) as idle:
        idle.sendall(b"GET / HT")
        assert view.end("SIGTERM") == 0


def test_requests_that_come_while_it_ends_are_refused():
    """Somebody does not read what was sent to them, so that ending takes a moment; others wait, and more come."""
    view = View(ROOT / "examples" / "view" / "02_tornado_torus.json", "workload.applications.0.sample=10000000",
                program=ASAN if os.path.exists(ASAN) else PROGRAM)

    def connect(receives=None):
        connection = socket.socket()
        if receives:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receives)
        connection.settimeout(10)
        connection.connect(("127.0.0.1", view.port))
        return connection

    def ask(connection, path, body=None):
        head = f"{'POST' if body else 'GET'} {view.home}api/{path} HTTP/1.1\r\nHost: {view.host}\r\n"
        if body:
            head += f"Content-Type: {JSON}\r\nContent-Length: {len(body)}\r\n"
        connection.sendall((head + "\r\n" + (body or "")).encode())

    slow, quitting, first, second = connect(receives=4096), connect(), connect(), connect()
    waiting = [connect() for _ in range(3)]
    for _ in range(500):
        ask(slow, "options")
    time.sleep(1)
    ask(waiting[0], "step", '{"cycles": 1000000}')  # takes 0.2 s, the others queue up behind it
    time.sleep(0.05)
    ask(quitting, "quit", "{}")
    time.sleep(0.05)
    for connection in waiting[1:]:
        ask(connection, "step", '{"cycles": 1000000}')
    assert b" 200 " in quitting.recv(4096)
    for connection in (waiting[1], first, second):
        try:
            if connection is not waiting[1]:
                ask(connection, "frame")
            answer = connection.recv(4096)
        except OSError:
            answer = b""  # it has ended already: all depends on how busy this machine is
        assert answer == b"" or b" 503 " in answer
    for connection in (slow, quitting, first, second, *waiting):
        connection.close()
    view.connection.close()
    _, errors = view.process.communicate(timeout=30)
    assert view.process.returncode == 0 and "ERROR" not in errors, errors


def test_each_start_has_an_address_of_its_own():
    with View(SCENARIO) as one, View(SCENARIO) as other:
        assert one.home != other.home and one.port != other.port
        assert one.ask_at("GET", other.home + "api/frame", Host=one.host)[0] == 403


def test_it_is_clean_under_the_address_sanitizer():
    if not os.path.exists(ASAN):
        pytest.skip("FLITWARP_ASAN names no program")
    view = View(SCENARIO, program=ASAN)
    shower(view, 150)
    for path in ("api/scene", "api/options", "api/gallery", "api/frame?routers=1,2,3", "api/series", "api/router?id=3", "api/results"):
        assert view.get(path)["ok"], path
    assert view.step_to_end()["outcome"] == "deadlock"
    assert view.post("api/restart", overrides=["network.router.num_vcs=0"])["ok"] is False
    assert view.post("api/open", scenario="10_clos_up_down")["ok"]
    frame = view.post("api/step?routers=0,1,2,3", cycles=60)
    assert view.get(f"api/packet?id={frame['links'][0][2]}")["ok"]
    assert view.end() == 0
    assert "ERROR" not in view.errors and "runtime error" not in view.errors, view.errors


@pytest.mark.parametrize("arguments, message", [
    ([], "no configuration is given"),
    (["--port", "70000", SCENARIO], "flitwarp view: --port 70000; accepted: 0 to 65535"),
    (["--prot", "1", SCENARIO], "'--prot' is not understood"),
    ([SCENARIO, "network.router.num_vcs=0"], "network.router.num_vcs"),
    ([SCENARIO, SCENARIO], "one is shown"),
    (["nowhere.json"], "nowhere.json"),
    ([ROOT / "examples" / "phold.json"], "found a model, expected a network"),
])
def test_wrong_arguments_are_told_so(arguments, message):
    ended = subprocess.run([PROGRAM, "view", *map(str, arguments), "--no-open"], capture_output=True, text=True, timeout=30,
                           check=False)
    assert ended.returncode == 1 and message in ended.stderr and ended.stdout == ""


def test_a_port_in_use_is_told_so(view):
    ended = subprocess.run([PROGRAM, "view", str(SCENARIO), "--port", str(view.port), "--no-open"], capture_output=True,
                           text=True, timeout=30, check=False)
    assert ended.returncode == 3 and f"cannot listen on 127.0.0.1:{view.port}" in ended.stderr
