# SPDX-License-Identifier: Apache-2.0
"""Links that are slow, and links with errors, to the tick.

A flit is hit with the probability 1 - (1 - ber)^bits each time that it is sent, and is there a round trip of its channel
later for each hit, 2 c; those behind it wait. What is drawn is written out here anew: how many flits are sent up to the next
that is hit, from a stream of the seed and the channel. So all arrivals of a row of packets can be counted:

    grants     at the first router a flit a tick, the head r + v after its arrival there
    channel    free when the flit before has come through; a flit that is hit k times holds it 2 c k ticks longer
    second     the head is granted r + v after it came, a body flit when it came, one a tick; then s + x, and the terminal's channel
"""
import math

import pytest

from support import blast, config_of, network_of, run, run_logged

MASK = (1 << 64) - 1
GOLDEN, RETRY = 0x9e3779b97f4a7c15, 13  # what a stream counts with; the purpose of these draws
BITS = 8 * 32  # of a flit


def mix(x):
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9 & MASK
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb & MASK
    return x ^ (x >> 31)


def gaps(seed, channel, rate):
    """Flits that are sent up to and with the next one that is hit, for ever."""
    key = mix(seed + GOLDEN)
    key = mix(key ^ mix(channel + 0xd1b54a32d192ed03 & MASK))
    key = mix(key ^ mix(RETRY + 0x8cb92ba72f3d8dd7 & MASK))
    count = 0
    while True:
        count += 1
        unit = (mix(key + count * GOLDEN & MASK) >> 11) * 2.0 ** -53
        yield 1 + int(math.log(1 - unit) / (BITS * math.log1p(-rate)))


def hits(seed, channel, rate):
    """For one flit after the other, how often it is hit."""
    draws = gaps(seed, channel, rate)
    left, found = next(draws), 0
    while True:
        left -= 1
        if left:
            yield found
            found = 0
        else:
            left, found = next(draws), found + 1


def pair(trace, packets, failures, router="input_queued", channel=10, seed=7):
    """Two routers with a terminal each; packets (created, flits) go from the first to the second."""
    trace.write_text("".join(f"{created} 0 1 {flits}\n" for created, flits in packets))
    network = network_of({"type": "mesh", "widths": [2]}, "minimal", {"type": router, "num_vcs": 2, "buffer_depth": 64}, channel, 2,
                         failures=failures)
    application = {"type": "trace", "file": str(trace), "format": "simured"}
    return run_logged(config_of(network, application, seed=seed, per_channel=True))


def channel_number(results):
    """Router 0's channel to router 1: its number is router * ports + port, where terminals do not count; there is one port each."""
    (row,) = [row for row in results["channels"]["list"] if row[0] == 0]
    assert row[1] == 1 and len(results["channels"]["list"]) == 2, "ports of a line are counted as it was thought"
    return 0


def expected(packets, wait_of, c, ct=2):
    """(head, tail) of each packet, with what each flit waits on the channel."""
    free = granted = last = 0
    for created, flits in packets:
        head = None
        for flit in range(flits):
            sent = max(created + flit, last + 1 if last else 0)  # by the terminal
            last = sent
            come = sent + ct
            granted = max(come + (1 if flit == 0 else 0), granted + 1)
            start = max(granted + 2, free) + wait_of()
            free = start + 1
            come = start + c
            second = max(come + (1 if flit == 0 else 0), second + 1 if flit else 0)
            tail = second + 2 + ct
            head = tail if flit == 0 else head
        yield head, tail


PACKETS = [(100 * i, 1 + i % 7) for i in range(300)]


def check_lonely(tmp_path, failures, c, wait_of):
    results, log = pair(tmp_path / "packets.trc", PACKETS, failures)
    start = log[0]["created"]
    found = [(row["head_arrived"] - start, row["tail_arrived"] - start) for row in sorted(log, key=lambda row: row["packet"])]
    assert found == list(expected(PACKETS, wait_of(results), c))
    return results


def test_flits_that_are_hit_come_a_round_trip_later_and_those_behind_them_wait(tmp_path):
    rate = 4e-4  # about a flit in ten
    failures = {"links": {"list": [[0, 1]], "bandwidth": 1, "bit_error_rate": rate}}
    drawn = []

    def wait_of(results):
        draws = hits(7, channel_number(results), rate)

        def wait():
            drawn.append(next(draws))
            return 20 * drawn[-1]
        return wait
    results = check_lonely(tmp_path, failures, 10, wait_of)
    assert results["failures"]["retries"] == sum(drawn) > 50
    assert max(drawn) > 1, "some flit is hit twice"


def test_extra_latency_lengthens_the_round_trip_too(tmp_path):
    failures = {"links": {"list": [[0, 1]], "bandwidth": 1, "bit_error_rate": 4e-4, "extra_latency": 5}}

    def wait_of(results):
        draws = hits(7, channel_number(results), 4e-4)
        return lambda: 2 * 15 * next(draws)
    check_lonely(tmp_path, failures, 15, wait_of)


def test_a_packet_at_packet_level_waits_for_all_of_its_flits(tmp_path):
    """It stays in one piece: each hit among its flits delays all of it by a round trip."""
    rate = 4e-4
    spaced = [(400 * i, 1 + i % 7) for i in range(200)]
    failures = {"links": {"list": [[0, 1]], "bandwidth": 1, "bit_error_rate": rate}}
    _, clean = pair(tmp_path / "a.trc", spaced, {}, "packet")
    results, log = pair(tmp_path / "b.trc", spaced, failures, "packet")
    draws = hits(7, channel_number(results), rate)
    total = 0
    for (created, flits), before, after in zip(spaced, clean, log):
        found = sum(next(draws) for _ in range(flits))
        assert after["tail_arrived"] - before["tail_arrived"] == 20 * found, created
        assert after["head_arrived"] - before["head_arrived"] == 20 * found
        total += found
    assert results["failures"]["retries"] == total > 50


@pytest.mark.parametrize("router", ["input_queued", "packet", "output_queued", "input_output_queued", "staged", "single_cycle", "booksim"])
def test_retries_are_as_many_as_the_rate_says(tmp_path, router):
    """Of N flits that come through with probability 1 - p each time, N p / (1 - p) are sent again, with variance N p / (1 - p)^2."""
    rate, flits = 1e-3, [(5 * i, 2) for i in range(10000)]
    p = -math.expm1(BITS * math.log1p(-rate))
    results, _ = pair(tmp_path / "packets.trc", flits, {"links": {"list": [[0, 1]], "bandwidth": 1, "bit_error_rate": rate}}, router, 1)
    mean, deviation = 20000 * p / (1 - p), math.sqrt(20000 * p) / (1 - p)
    assert abs(results["failures"]["retries"] - mean) < 4 * deviation


def test_a_slow_link_takes_as_long_as_its_share_says(tmp_path):
    """Half of the bandwidth: a flit every two ticks; five ticks more latency: as a longer channel. The flits behind the head
    need no virtual channel at the second router, so they are a tick nearer to it than on the channel."""
    failures = {"links": {"list": [[0, 1]], "bandwidth": 0.5, "extra_latency": 5}}
    _, log = pair(tmp_path / "packets.trc", PACKETS, failures)
    for packet in log:
        flits = packet["packet_flits"]
        assert packet["head_arrived"] - packet["created"] == 2 * 2 + 2 * 3 + 15
        assert packet["tail_arrived"] - packet["head_arrived"] == max(0, 2 * (flits - 1) - 1)


@pytest.mark.parametrize("router", ["input_queued", "packet", "output_queued"])
def test_errors_are_the_same_on_any_number_of_threads(router):
    network = network_of({"type": "torus", "widths": [4, 4]}, "minimal", {"type": router, "num_vcs": 4, "buffer_depth": 8}, 3,
                         failures={"links": [{"share": 0.5, "bandwidth": 1, "bit_error_rate": 3e-4}, {"share": 0.3, "bandwidth": 0.5}]})
    config = config_of(network, blast(0.3, flits=3, warmup=200, sample=2000))
    found = [run(config, **how) for how in ({}, {"simulator__sync": "conservative", "simulator__threads": 3},
                                            {"simulator__sync": "optimistic", "simulator__threads": 2})]
    assert len({(one["simulation"]["digest"], one["simulation"]["events"], one["failures"]["retries"]) for one in found}) == 1
    assert found[0]["failures"]["retries"] > 100
