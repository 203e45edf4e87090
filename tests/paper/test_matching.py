# SPDX-License-Identifier: Apache-2.0
"""How messages and receives of MPI find each other: calls of a few ranks, made here, on the ideal network of test_trace.py, against
times that are counted by hand. A receive that took the wrong message would leave a later one without any: the run would not
come to its end."""
import json

import pytest

from dumpi_writer import H, write_trace
from support import Failed, invoke
from test_trace import G, L, LIMIT, O, config, eager

BYTE, WORLD, ANY = H(5), H(2), -1
LARGE = LIMIT + 1
LATE = 1_000_000


def message(name, peer, size=1, tag=0):
    return (name, size, BYTE, peer, tag, WORLD)


def send(peer, size=1, tag=0):
    return message("Send", peer, size, tag)


def receive(peer, size=1, tag=0):
    return message("Recv", peer, size, tag)


def begun(name, peer, request, size=1, tag=0):
    return (*message(name, peer, size, tag), request)


def wait(request):
    return "Wait", request


def probe(peer, tag):
    return "Probe", peer, tag, WORLD


@pytest.fixture
def times(tmp_path):
    """When each rank ends. A rank's first call begins at 0, further ones at once."""
    def play(*ranks, **settings):
        file = write_trace(tmp_path, [[("Comm_size", WORLD, len(ranks)), *calls] for calls in ranks], gap=0)
        return json.loads(invoke(config(file, max(2, len(ranks)), **settings))[0])["applications"][0]["time_by_rank"]
    return play


# ---- probes ----

def test_a_probe_ends_with_the_arrival_and_leaves_the_message_to_the_next_receive(times):
    assert times([send(1)], [probe(ANY, ANY), receive(ANY, tag=ANY)]) == [O, eager(1)]


def test_a_probe_for_a_tag_does_not_change_what_a_wildcard_takes(times):
    # Tags 1 and 2: the probe ends with the second, sent at O; any tag takes the first all the same, tag 2 the second.
    ended = times([send(1, tag=1), send(1, tag=2)], [probe(0, 2), receive(ANY, tag=ANY), receive(0, tag=2)])
    assert ended == [2 * O, 2 * O + L + 2 * O]


def test_a_probe_sees_a_large_message_when_it_is_offered(times):
    # The receive begins when the offer is there, O + L, and then lets the message come: L back, L and the bytes here.
    ended = times([send(1, LARGE)], [probe(0, ANY), receive(0, LARGE)])
    assert ended == [O + 2 * L, O + 3 * L + (LARGE - 1) * G + O]


def test_a_probe_that_nothing_answers_is_reported(times):
    with pytest.raises(Failed) as failed:
        times([send(1, tag=1)], [probe(0, 2)])
    assert failed.value.status == 2 and "(probe from rank 0, tag 2) waits for a message of rank 0" in failed.value.message


# ---- messages that nobody waits for yet ----

@pytest.mark.parametrize("then, completes", [(0, True), (1, False)])
def test_a_receive_from_anybody_takes_what_came_first(then, completes, times):
    # Rank 1 sends at once, rank 0 late; rank 2 looks when both are there. What is left is rank 0's.
    ranks = [("compute", LATE), send(2)], [send(2)], [("compute", 3 * LATE), receive(ANY), receive(then)]
    if completes:
        assert times(*ranks) == [LATE + O, O, 3 * LATE + 2 * O]
    else:
        with pytest.raises(Failed, match="no receive has taken the message of rank 0"):
            times(*ranks)


def test_a_small_message_does_not_overtake_a_large_one_of_its_rank(times):
    # The offer of the first came first: any tag takes it, though the second is all there.
    ranks = [[begun("Isend", 1, 2, LARGE, 1), begun("Isend", 1, 3, 1, 2), wait(2), wait(3)],
             [("compute", LATE), receive(0, LARGE, ANY), receive(0, tag=2)]]
    first = LATE + 2 * L + (LARGE - 1) * G + O  # the answer, the bytes
    assert times(*ranks) == [LATE + L, first + O]


def test_receives_that_were_begun_first_take_messages_first(times):
    # The one that takes anything was begun first and has tag 5; the other waits for tag 6, which comes late.
    ranks = [[send(1, tag=5), ("compute", LATE), send(1, tag=6)],
             [begun("Irecv", 0, 2, tag=ANY), begun("Irecv", ANY, 3, tag=6), wait(2), send(0, tag=7), wait(3)]]
    ranks[0].append(receive(1, tag=7))
    assert times(*ranks) == [O + LATE + 2 * O, eager(1, sent=O + LATE)]


# ---- rendezvous and modes of sends ----

def test_large_messages_both_ways_at_once(times):
    """Offers, acceptances and data of three ranks in a ring cross each other without waiting."""
    ranks = [[("Sendrecv", LARGE, BYTE, (rank + 1) % 3, 4, LARGE, BYTE, (rank + 2) % 3, 4, WORLD)] for rank in range(3)]
    assert times(*ranks) == [O + 3 * L + (LARGE - 1) * G + O] * 3


@pytest.mark.parametrize("name, size, sender, receiver", [
    ("Send", 1, O, O + L + O),
    ("Ssend", 1, O + 2 * L, O + 3 * L + O),  # offer, answer, message
    ("Bsend", LARGE, O, O + 3 * L + (LARGE - 1) * G + O),
    ("Rsend", LARGE, O, O + L + (LARGE - 1) * G + O),
])
def test_how_a_send_ends_is_said_by_its_mode(name, size, sender, receiver, times):
    assert times([message(name, 1, size)], [receive(0, size)]) == [sender, receiver]


@pytest.mark.parametrize("name, size, copied", [
    ("Send", 100, 200), ("Bsend", 100, 200), ("Rsend", 100, 200),
    ("Ssend", 100, 0),  # its bytes wait for the receive where they are
    ("Bsend", LARGE, 0), ("Rsend", LARGE, 0),
])
def test_what_is_offered_or_large_is_not_copied(name, size, copied, times):
    ranks = [message(name, 1, size)], [receive(0, size)]
    alone, with_copies = times(*ranks), times(*ranks, copy_per_byte="2ns")
    assert [one - other for one, other in zip(with_copies, alone)] == [copied, copied]


@pytest.mark.parametrize("limit, offers", [(0, True), (99, True), (100, False)])
def test_the_limit_of_eager_messages_is_a_setting(limit, offers, times):
    trips = 3 if offers else 1
    assert times([send(1, 100)], [receive(0, 100)], eager_limit=limit)[1] == O + trips * L + 99 * G + O


# ---- requests ----

def test_persistent_requests_are_new_messages_each_time(times):
    # The cpu of rank 1 takes the first from O + L on; the second has come when that is done.
    sends = [begun("Send_init", 1, 2), *[("Start", 2), wait(2)] * 2]
    receives = [begun("Recv_init", 0, 2), *[("Start", 2), wait(2)] * 2]
    assert times(sends, receives) == [2 * O, 2 * O + L + O]


@pytest.mark.parametrize("ended", [("Waitany", 2, [2, 3], 1), ("Waitsome", 2, [2, 3], 1, [1]), ("Test", 3, 1)], ids=lambda c: c[0])
def test_what_has_ended_lets_a_rank_go_on_without_the_others(ended, times):
    # Rank 0's message is late; rank 2's answer to its own is not.
    ranks = [[("compute", LATE), send(1)],
             [begun("Irecv", 0, 2), begun("Irecv", 2, 3), ended, send(2), wait(2)], [send(1), receive(1)]]
    assert times(*ranks)[1:] == [eager(1, sent=LATE), 2 * (O + L + O)]


def test_a_test_that_found_nothing_waits_for_nothing(times):
    ranks = [("compute", LATE), send(1)], [begun("Irecv", 0, 2), ("Test", 2, 0), send(2), wait(2)], [receive(1)]
    assert times(*ranks)[1:] == [eager(1, sent=LATE), O + L + O]


def test_a_message_to_the_own_rank_needs_no_network(times):
    ranks = [[begun("Irecv", 0, 2, 100), send(0, 100), wait(2)], []]
    assert times(*ranks, local_latency="70ns")[0] == O + 70 + O
