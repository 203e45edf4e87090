# SPDX-License-Identifier: Apache-2.0
"""Transactions of several messages, sizes whose replies follow their requests, and loads of single terminals.

A transaction begins when its messages are made, all in one tick, and ends with the last tail of the last of them, or of
the last of their replies. On one router with idle stages M messages of L flits take 2 ct + (r + v + s + x) + M L - 1.
"""
import pytest

from support import Failed, blast, config_of, network_of, run, run_logged

STAGES = {"routing_latency": 0, "vc_allocation_latency": 1, "switch_allocation_latency": 1, "crossbar_latency": 1}
ROUTER = {"num_vcs": 4, "buffer_depth": 64, **STAGES}
MESH = {"type": "mesh", "widths": [4, 4]}
WAY = 2 + 3


def one_router(terminals):
    return network_of({"type": "single_router", "terminals": terminals}, "minimal", ROUTER)


def by_transaction(packets):
    """{(initiator, transaction): {(source, message): packets}}"""
    found = {}
    for packet in packets:
        messages = found.setdefault((packet["initiator"], packet["transaction"]), {})
        messages.setdefault((packet["source"], packet["message"]), []).append(packet)
    return found


def latency_of(messages):
    packets = [packet for message in messages.values() for packet in message]
    return max(packet["tail_arrived"] for packet in packets) - min(packet["created"] for packet in packets)


def expect_latencies(block, found):
    latencies = [latency_of(messages) for messages in found.values()]
    assert block["transactions"] == len(found) and block["unfinished_transactions"] == 0
    assert block["transaction_latency"]["mean"] == pytest.approx(sum(latencies) / len(latencies))
    assert (block["transaction_latency"]["min"], block["transaction_latency"]["max"]) == (min(latencies), max(latencies))


@pytest.mark.parametrize("messages, flits", [(2, 1), (3, 4), (8, 2)])
def test_a_lonely_transaction_takes_the_time_of_its_messages(messages, flits):
    application = blast(0.001, flits=flits, messages_per_transaction=messages, warmup=0, sample=400000,
                        allocation={"type": "list", "terminals": [0, 1]})
    results, packets = run_logged(config_of(one_router(4), application))
    found = by_transaction(packets)
    expect_latencies(results["applications"][0], found)
    # It may meet the next one of its own terminal, hardly ever: the median is that of a lonely one.
    assert results["applications"][0]["transaction_latency"]["p50"] == WAY + messages * flits - 1
    assert all(len(parts) == messages for parts in found.values())


@pytest.mark.parametrize("more", [{}, {"reply": {"type": "uniform", "max": 5}, "reply_delay": 30}, {"size": "read_write"}],
                         ids=["alone", "reply", "read_write"])
@pytest.mark.parametrize("destinations", ["same", "each"])
@pytest.mark.parametrize("max_packet", [1024, 2])
def test_every_sampled_transaction_is_whole(destinations, max_packet, more):
    application = {**blast(0.1, flits=3, messages_per_transaction=4, transaction_destinations=destinations,
                           max_packet=max_packet, warmup=500, sample=3000), **more}
    results, packets = run_logged(config_of(network_of(MESH), application))
    found = by_transaction(packets)
    assert len(found) > 100
    block = results["applications"][0]
    expect_latencies(block, found)
    window = (block["warmup_ticks"], block["warmup_ticks"] + block["sampled_ticks"])
    several = 0
    for (initiator, number), messages in found.items():
        assert {packet["transaction_messages"] for parts in messages.values() for packet in parts} == {8 if more else 4}
        assert len(messages) == (8 if more else 4)
        requests = [parts for (source, _), parts in messages.items()
                    if source == initiator and parts[0]["created"] == min(p[0]["created"] for p in messages.values())]
        assert len(requests) == 4 and (initiator, number) in messages
        created = {packet["created"] for parts in requests for packet in parts}
        assert len(created) == 1 and window[0] <= created.pop() < window[1]
        several += len({parts[0]["destination"] for parts in requests}) > 1
        if more:  # a reply for each request, from where it went
            replies = [parts for key, parts in messages.items() if parts not in requests]
            assert sorted(parts[0]["source"] for parts in replies) == sorted(parts[0]["destination"] for parts in requests)
            assert {parts[0]["destination"] for parts in replies} == {initiator}
    assert several == 0 if destinations == "same" else several > 0.9 * len(found)


def test_the_load_counts_all_messages_of_a_transaction():
    for messages in (1, 5):
        block = run(config_of(network_of(MESH), blast(0.2, flits=2, messages_per_transaction=messages, warmup=500,
                                                      sample=20000)))["applications"][0]
        assert block["offered_load"] == pytest.approx(0.2, rel=0.05)


def test_a_pulse_of_transactions_sends_its_messages():
    pulse = {"type": "pulse", "load": 0.2, "messages": 12, "messages_per_transaction": 4}
    block = run(config_of(network_of(MESH), pulse))["applications"][0]
    assert block["packets"] == 16 * 12 and block["transactions"] == 16 * 3 and block["unfinished_transactions"] == 0


def test_saturated_transactions_are_cut_short_and_the_network_drains():
    block = run(config_of(network_of(MESH), blast(0.9, flits=2, messages_per_transaction=6, reply="fixed", warmup=500,
                                                  sample=1000)))["applications"][0]
    assert block["saturated"] and block["unfinished_transactions"] > 0


# ---- read_write ----

def test_replies_follow_the_kind_of_their_request():
    sizes = {"type": "read_write", "reads": 0.7, "read_request": 1, "read_reply": 6, "write_request": 4, "write_reply": 2}
    application = {**blast(0.05, warmup=500, sample=5000), "size": sizes, "reply_delay": 12}
    results, packets = run_logged(config_of(network_of(MESH), application))
    pairs = []
    for (initiator, number), messages in by_transaction(packets).items():
        request = messages.pop((initiator, number))[0]
        reply = next(iter(messages.values()))[0]
        assert reply["created"] == request["tail_arrived"] + 12
        pairs.append((request["message_flits"], reply["message_flits"]))
    assert set(pairs) == {(1, 6), (4, 2)}
    assert pairs.count((1, 6)) == pytest.approx(0.7 * len(pairs), rel=0.1)
    block = results["applications"][0]
    assert block["target_load"] == 0.05
    assert block["offered_load"] == pytest.approx(0.05 * (1 + (0.7 * 6 + 0.3 * 2) / (0.7 + 0.3 * 4)), rel=0.05)


# ---- relative ----

def relative(tmp_path, text, load=0.1, **more):
    (tmp_path / "weights.csv").write_text(text)
    return config_of(network_of(MESH), {**blast(load, warmup=500, sample=20000), "relative": str(tmp_path / "weights.csv"),
                                        **more}, per_terminal=True)


@pytest.mark.parametrize("injection", ["bernoulli", "poisson", "periodic", {"type": "on_off", "burst": 4}])
def test_terminals_send_by_their_weights(injection, tmp_path):
    text = "terminal,weight\n# heavy and light\n3,4\n0,0.5\n\n7,0\n"
    block = run(relative(tmp_path, text, injection=injection))["applications"][0]
    weights = [{3: 4, 0: 0.5, 7: 0}.get(terminal, 1) for terminal in range(16)]
    for terminal, load in enumerate(block["accepted_by_terminal"]):
        assert load == pytest.approx(0.1 * weights[terminal], abs=0.03 * weights[terminal])
    assert block["target_load"] == pytest.approx(0.1 * sum(weights) / 16)
    assert block["offered_load"] == pytest.approx(block["target_load"], rel=0.05)


def test_a_pulse_comes_from_those_who_have_weight(tmp_path):
    (tmp_path / "weights.csv").write_text("\n".join(f"{terminal},{terminal % 2}" for terminal in range(16)))
    pulse = {"type": "pulse", "load": 0.2, "messages": 5, "relative": str(tmp_path / "weights.csv")}
    _, packets = run_logged(config_of(network_of(MESH), pulse))
    assert len(packets) == 8 * 5 and {packet["source"] % 2 for packet in packets} == {1}


def test_weights_of_one_change_nothing(tmp_path):
    application = blast(0.1, warmup=500, sample=2000)
    alike = run(config_of(network_of(MESH), application))
    (tmp_path / "weights.csv").write_text("5,1\n")
    weighed = run(config_of(network_of(MESH), {**application, "relative": str(tmp_path / "weights.csv")}))
    assert alike["simulation"]["digest"] == weighed["simulation"]["digest"]


REFUSED = {
    "a file that is not there": (None, {}, "relative", "No such file"),
    "three numbers": ("1,2,3\n", {}, "relative", "weights.csv:1: not terminal,weight"),
    "one number": ("0,1\n2\n", {}, "relative", "weights.csv:2: not terminal,weight"),
    "a terminal that is not there": ("16,1\n", {}, "relative", "no such terminal; terminals are 0 to 15"),
    "half a terminal": ("1.5,1\n", {}, "relative", "no such terminal"),
    "a terminal twice": ("1,1\n1,2\n", {}, "relative", "weights.csv:2: a terminal for the second time"),
    "a negative weight": ("1,-1\n", {}, "relative", "is not a number"),
    "more than a channel carries": ("1,20\n", {}, "load", "2 flits a cycle are more"),
    "more than the process makes": ("1,20\n", {"injection": {"type": "on_off", "on_rate": 0.2}}, "load", "2 flits"),
}


@pytest.mark.parametrize("text, more, key, message", REFUSED.values(), ids=REFUSED)
def test_weights_are_refused(text, more, key, message, tmp_path):
    config = relative(tmp_path, text or "", **more)
    if text is None:
        (tmp_path / "weights.csv").unlink()
    with pytest.raises(Failed) as failed:
        run(config)
    assert failed.value.status == 1
    assert f"workload.applications[0].{key}" in failed.value.message and message in failed.value.message


@pytest.mark.parametrize("application, key, message", [
    ({"type": "pulse", "messages": 10, "messages_per_transaction": 4}, "messages", "no whole number of transactions of 4"),
    ({"type": "blast", "size": "read_write", "reply": "fixed"}, "reply", "brings replies of its own"),
    ({"type": "blast", "load": 0.8, "size": {"type": "read_write", "reads": 1}, "messages_per_transaction": 2,
      "injection": {"type": "on_off", "on_rate": 0.3}}, "injection.on_rate", "during a burst"),
])
def test_transactions_are_refused(application, key, message):
    with pytest.raises(Failed) as failed:
        run(config_of(network_of(MESH), application))
    assert f"workload.applications[0].{key}" in failed.value.message and message in failed.value.message
