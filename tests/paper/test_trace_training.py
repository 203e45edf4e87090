# SPDX-License-Identifier: Apache-2.0
"""Text workloads of ASTRA-sim and connection matrices of htsim, against times that are counted by hand.

On the ideal network a message of s bytes takes L + ceil(s / 8) - 1 ticks from terminal to terminal; ranks need no time of
their own for it, and a tick is 1 ns. Where collectives share a terminal at one time they are so small that it does not
matter, or there is one alone.
"""
import json
import subprocess

import pytest

from support import PROGRAM, Failed, config_of, invoke, run_logged

L = 100
THREADS = ("--sync", "conservative", "--threads", "2")
IDEAL = {"flit_bytes": 8, "topology": {"type": "ideal", "terminals": 8, "latency": L}, "routing": "minimal",
         "router": {"type": "packet", "num_vcs": 1, "buffer_depth": 1048576, "delay": 0}}


def one_way(size):
    return L + max(1, -(-size // 8)) - 1


def ring(size, ranks):
    """An allreduce: a block at a time, twice round."""
    return 2 * (ranks - 1) * one_way(size // ranks)


def alltoall(size, ranks):
    """One after the other, and likewise an allgather of blocks."""
    return (ranks - 1) * one_way(size // ranks)


def trace(file, **settings):
    return {"type": "trace", "file": str(file), "per_rank": True, "max_packet": 1048576, "eager_limit": 1 << 30,
            "collectives": {"allreduce": "ring"}, **settings}


def play(file, arguments=(), **settings):
    text, _ = invoke(config_of(IDEAL, trace(file, **settings), check_interval="1us"), arguments=arguments)
    results = json.loads(text)
    assert results["complete"] and results["applications"][0]["unfinished_ranks"] == 0
    return results["applications"][0]


def facts_of(file, *words):
    return json.loads(subprocess.check_output([PROGRAM, "trace-info", file, "--json", *words]))


@pytest.fixture
def workload(tmp_path):
    """The time of all ranks, which is the same, and the bytes that they send."""
    def time_of(header, *layers, ranks=4, arguments=(), **settings):
        (tmp_path / "layers.txt").write_text("\n".join([header, str(len(layers)), *layers]) + "\n")
        block = play(tmp_path / "layers.txt", arguments, format={"type": "astrasim", "ranks": ranks, **settings})
        times = set(block["time_by_rank"])
        assert len(block["time_by_rank"]) == (ranks or 8) and len(times) == 1
        return times.pop(), block["bytes"]
    return time_of


# ---- ASTRA-sim ----

def test_only_the_first_layers_sum_is_exposed_when_others_are_short(workload):
    """The sum of b begins after 1 + 2 + 3 us and has ended when that of a begins, at 8 us; then a is updated."""
    layers = ["a -1 1000 NONE 0 9999 NONE 0 1500 ALLREDUCE 2048 70", "b -1 2000 NONE 0 500 NONE 0 3000 ALLREDUCE 4096 10"]
    assert 6000 + ring(4096, 4) + 10 < 8000
    one = 8000 + ring(2048, 4) + 70
    assert workload("DATA", *layers) == (one, 6 * (2048 + 4096))
    assert workload("DATA", *layers, passes=3) == (3 * one, 3 * 6 * (2048 + 4096))
    assert workload("DATA", *layers, passes=3, arguments=THREADS)[0] == 3 * one


def test_a_long_sum_is_waited_for_by_its_own_layer_alone(workload):
    """a computes again while b is still summed; b then, and on the second way back its sum is all that is left."""
    layers = ["a -1 1000 NONE 0 0 NONE 0 1500 NONE 0 0", "b -1 2000 NONE 0 500 NONE 0 3000 ALLREDUCE 400000 0"]
    summed = 6000 + ring(400000, 4)
    assert summed > 8000 + 1000
    assert workload("DATA", *layers, passes=2)[0] == summed + 2000 + 3000 + ring(400000, 4)


def test_times_are_in_the_unit_that_is_set(workload):
    layer = "a -1 10 NONE 0 0 NONE 0 20 ALLREDUCE 2048 3"
    assert workload("DATA", layer, time_unit="1us")[0] == 30000 + ring(2048, 4) + 3000


def test_model_parallel_layers_wait_for_activations_and_hide_gradients(workload):
    """On the way back of b the sum of its input takes longer than its weights, of c less long; a has none."""
    layers = ["a -1 1000 ALLREDUCE 2048 300 ALLREDUCE 2048 200 NONE 0 0",
              "b -1 2000 ALLGATHER 800 700 ALLREDUCE 80000 400 NONE 0 0",
              "c -1 500 ALLTOALL 3200 600 REDUCESCATTER 3200 5000 NONE 0 0"]
    forward = 1000 + ring(2048, 4) + 2000 + 3 * one_way(800) + 500 + alltoall(3200, 4)
    back = 600 + max(5000, alltoall(3200, 4)) + 700 + max(400, ring(80000, 4)) + 300 + 200
    assert alltoall(3200, 4) < 5000 and ring(80000, 4) > 400
    time, sent = workload("MODEL", *layers)
    assert time == forward + back
    assert sent == 6 * 2048 + 12 * 800 + 12 * 800 + 12 * 800 + 6 * 80000


@pytest.mark.parametrize("policy", ["HYBRID_DATA_MODEL", "HYBRID_MODEL_DATA"])
def test_hybrid_layers_sum_weights_over_copies_and_activations_within_them(policy, workload):
    """Eight ranks, two of which share a model: four copies."""
    layer = "a -1 1000 ALLREDUCE 2048 300 NONE 0 200 ALLREDUCE 4096 50"
    time, sent = workload(policy, layer, ranks=8, model_parallel=2)
    assert time == 1000 + ring(2048, 2) + 300 + 200 + ring(4096, 4) + 50
    assert sent == 4 * 2 * 2048 + 2 * 6 * 4096


@pytest.mark.parametrize("lookup", [1600, 32000])
def test_dlrm_looks_up_beside_the_bottom_layers(lookup, workload):
    layers = [f"embedding -1 300 ALLTOALL {lookup} 0 ALLTOALL {lookup} 350 NONE 0 9",
              "bottom -1 1000 NONE 0 800 NONE 0 900 NONE 0 0", "top -1 4000 NONE 0 3000 NONE 0 2000 NONE 0 0"]
    forward = 300 + max(1000, alltoall(lookup, 4)) + 4000
    back = 2000 + 3000 + max(900 + 800, alltoall(lookup, 4)) + 350
    assert workload("HYBRID_DLRM 1", *layers) == (forward + back, 2 * 4 * 3 * lookup // 4)
    enhanced = 2000 + 3000 + max(900 + 800 + 350, alltoall(lookup, 4))
    assert workload("HYBRID_DLRM_ENHANCED 1", *layers)[0] == forward + enhanced


def test_simais_layers_go_to_tensor_expert_and_data_groups(workload):
    """Two ranks of a tensor, four copies, of which two share experts. What SimAI gathers it counts as a whole. Of the sums on
    the way back the last is exposed."""
    layers = ["a -1 1000 ALLGATHER 3200 3000 ALLTOALL_EP 1600 1000 ALLREDUCE_DP_EP 2048 0",
              "b -1 400 ALLREDUCE 800 0 NONE 0 500 REDUCESCATTER 6400 0"]
    time, sent = workload("HYBRID_TRANSFORMER_FWD_IN_BCKWD ep: 2 all_gpus: 8 model_parallel_NPU_group: 2", *layers, ranks=8)
    assert alltoall(6400, 4) < 3000 and alltoall(1600, 2) < 1000
    assert time == 1000 + one_way(1600) + 400 + ring(800, 2) + 500 + 3000 + 1000 + ring(2048, 2)
    assert sent == 8 * 1600 + 4 * 2 * 800 + 8 * 3 * 1600 + 8 * 800 + 4 * 2 * 2048


def test_simais_micro_benchmark_is_its_allreduces(workload):
    layers = ["embedding -1 500 ALLREDUCE 16000 1 NONE 0 1 NONE 0 1", "embedding -1 600 ALLREDUCE 64000 1 NONE 0 1 NONE 0 1"]
    header = "HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 8 all_gpus: 8"
    time, _ = workload(header, *layers, ranks=0)  # as many as the header says
    assert time == 500 + ring(16000, 8) + 600 + ring(64000, 8) + 4


def test_recomputing_costs_the_layers_since_the_checkpoint(workload):
    layers = [f"l{i} -1 {10 ** i} ALLREDUCE 800 0 NONE 0 0 NONE 0 0" for i in range(4)]
    header = "HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 2 checkpoints: 2 0 1 checkpoint_initiates: 1 3"
    assert workload(header, *layers, ranks=2)[0] == 1111 + 4 * ring(800, 2) + 110 + 2 * ring(800, 2)


def test_trace_info_says_who_shares_what_and_what_is_missing(tmp_path):
    file = tmp_path / "layers.txt"
    file.write_text("HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 2 ep: 4 pp: 3 all_gpus: 48 pp_comm: 7\n1\n"
                    "a -1 1 ALLTOALL_EP 8 1 NONE 0 1 NONE 0 0\n")
    facts = facts_of(file)
    assert (facts["policy"], facts["layers"], facts["ranks"]) == ("HYBRID_TRANSFORMER_FWD_IN_BCKWD", 1, 48)
    assert facts["group_ranks"] == {"model": 2, "data": 8, "expert": 4, "data_expert": 2}
    assert facts["missing"] == {"pp_comm_bytes": 7}
    file.write_text("MODEL\n1\na -1 1 NONE 0 1 ALLREDUCE 80 1 NONE 0 0\n")
    assert facts_of(file, "format.ranks=4")["missing"] == {"first_input_gradient_bytes": 80}


# ---- htsim ----

@pytest.fixture
def matrix(tmp_path):
    """Rows of the packet log by (source, destination, flits), with times from the start; and the results."""
    def rows_of(*lines, **settings):
        flows, triggers = [line for line in lines if "->" in line], [line for line in lines if line.startswith("trigger")]
        head = ["Nodes 8", f"Connections {len(flows)}", f"Triggers {len(triggers)}"]
        (tmp_path / "flows.cm").write_text("\n".join([*head, *lines]) + "\n")
        results, log = run_logged(config_of(IDEAL, trace(tmp_path / "flows.cm", **settings), check_interval="1us"))
        block = results["applications"][0]
        assert block["unfinished_ranks"] == 0
        start = block["phases"]["generating"]
        rows = {(row["source"], row["destination"], row["packet_flits"]):
                (row["created"] - start, row["tail_arrived"] - start) for row in log}
        assert len(rows) == len(log)
        return rows, block
    return rows_of


def test_flows_leave_at_their_times(matrix):
    rows, block = matrix("0->3 start 0 size 2000", "1->3 start 5000000 size 80")
    assert rows == {(0, 3, 250): (0, one_way(2000)), (1, 3, 10): (5000, 5000 + one_way(80))}
    assert block["bytes"] == 2080


def test_a_oneshot_is_known_where_the_flow_arrives_and_elsewhere_a_message_later(matrix):
    rows, block = matrix("0->1 start 0 size 2000 send_done_trigger 1", "1->2 trigger 1 size 400", "0->2 trigger 1 size 800",
                         "5->2 trigger 1 size 1600", "trigger id 1 oneshot")
    over = one_way(2000)
    assert rows[1, 2, 50][0] == over
    assert rows[1, 0, 1] == (over, over + 50 + L) and rows[1, 5, 1][0] == over  # behind the 50 flits of its own flow
    assert rows[0, 2, 100][0] == rows[1, 0, 1][1]
    assert rows[5, 2, 200][0] == rows[1, 5, 1][1]
    assert block["bytes"] == 4800


def test_a_chain_of_flows_takes_a_message_back_each(matrix):
    flows = [f"0->{i} id {i} {'start 0' if i == 1 else f'trigger {i - 1}'} size 8000 send_done_trigger {i}" for i in range(1, 8)]
    rows, block = matrix(*flows, *(f"trigger id {i} oneshot" for i in range(1, 8)))
    assert block["time_by_rank"][7] == 7 * one_way(8000) + 6 * L
    assert [rows[0, i, 1000][0] for i in range(1, 8)] == [i * (one_way(8000) + L) for i in range(7)]


def test_a_ring_of_flows_goes_on_at_once(matrix):
    flows = [f"{i}->{i + 1} id {i + 1} {f'trigger {i}' if i else 'start 0'} size 8000 recv_done_trigger {i + 1}" for i in range(7)]
    _, block = matrix(*flows, *(f"trigger id {i} oneshot" for i in range(1, 8)))
    assert block["completion_time"] == 7 * one_way(8000)


def test_a_barrier_waits_for_the_last_flow(matrix):
    """Node 4 gathers: it is told of 0 -> 1 and 0 -> 2, and tells 5."""
    rows, _ = matrix("0->1 start 0 size 800 recv_done_trigger 1", "3->2 start 7000000 size 80 recv_done_trigger 1",
                     "6->4 start 1000000 size 400 send_done_trigger 1", "4->7 trigger 1 size 1600", "5->7 trigger 1 size 3200",
                     "trigger id 1 barrier count 3")
    last = 7000 + one_way(80) + L
    assert rows[4, 7, 200][0] == last
    assert rows[4, 5, 1][0] == last and rows[5, 7, 400][0] == rows[4, 5, 1][1]


def test_a_multishot_lets_one_flow_go_for_each_that_ends_in_the_order_of_their_ends(matrix):
    """0 -> 1 comes first in the file and ends last."""
    rows, _ = matrix("0->1 start 9000000 size 800 recv_done_trigger 1", "2->3 start 0 size 80 recv_done_trigger 1",
                     "4->7 trigger 1 size 1600", "4->6 trigger 1 size 2400", "trigger id 1 multishot")
    assert rows[4, 7, 200][0] == one_way(80) + L
    assert rows[4, 6, 300][0] == 9000 + one_way(800) + L


def test_failures_are_refused_or_lost_with_a_word(tmp_path):
    file = tmp_path / "failing.cm"
    file.write_text("Nodes 8\nConnections 1\nFailures 1\n0->3 start 0 size 800\nfailure switch_type TOR switch_id 0 link_id 1\n")
    with pytest.raises(Failed, match="failing.cm:5: a failure of a link is the network's; accepted: a file without, or the setting failures_apart"):
        play(file)
    assert play(file, format={"type": "htsim", "lossy": True})["time_by_rank"][3] == one_way(800)
    assert facts_of(file, "format.lossy=true")["missing"] == {"failures": 1}


# ---- settings ----

def test_settings_of_a_format_are_checked_where_they_stand(tmp_path):
    (tmp_path / "flows.cm").write_text("Nodes 8\nConnections 0\n")
    with pytest.raises(Failed, match=r"workload\.applications\[0\]\.format\.losy: unknown key \(did you mean 'lossy'\?\)"):
        play(tmp_path / "flows.cm", format={"type": "htsim", "losy": True})


def test_a_workload_of_too_many_ranks_says_how_to_have_fewer(tmp_path):
    (tmp_path / "large.txt").write_text("HYBRID_TRANSFORMER model_parallel_NPU_group: 2 all_gpus: 16\n1\n"
                                        "a -1 1 NONE 0 1 NONE 0 1 NONE 0 0\n")
    with pytest.raises(Failed, match="16 ranks, and there is room for 8; accepted: so many terminals .* setting ranks of format"):
        play(tmp_path / "large.txt")


def test_cycles_of_packet_traces_are_as_long_as_is_set(tmp_path):
    (tmp_path / "packets.trc").write_text("40 0 3 2\n")
    settings = {"type": "simured", "cycle": "5ns", "flit_bytes": 80}
    assert play(tmp_path / "packets.trc", format=settings)["time_by_rank"][3] == 200 + one_way(160)


@pytest.mark.parametrize("words, message", [
    (["format.ranks=6", "format.model_parallel=2"], "policy DATA has no use for it"),
    (["format.rank=6"], "format.rank: unknown key (did you mean 'ranks'?)"),
    (["format.ranks=6", "format.ranks=7"], "'ranks' is given twice"),
    ([], "the file does not say how many ranks there are"),
])
def test_trace_info_takes_settings_and_refuses_wrong_ones(words, message, tmp_path):
    (tmp_path / "layers.txt").write_text("DATA\n1\na -1 1 NONE 0 1 NONE 0 1 ALLREDUCE 8 0\n")
    done = subprocess.run([PROGRAM, "trace-info", tmp_path / "layers.txt", *words], capture_output=True, text=True)
    assert done.returncode == 1 and message in done.stderr


def test_trace_convert_takes_settings_of_the_format_and_algorithms(tmp_path):
    """What was converted takes as long as the workload itself."""
    (tmp_path / "layers.txt").write_text("DATA\n1\na -1 1000 NONE 0 1 NONE 0 2000 ALLREDUCE 2048 0\n")
    subprocess.run([PROGRAM, "trace-convert", tmp_path / "layers.txt", "-o", tmp_path / "layers.goal", "format.ranks=4",
                    "allreduce=ring"], check=True)
    assert play(tmp_path / "layers.goal")["time_by_rank"] == [3000 + ring(2048, 4)] * 4
