# SPDX-License-Identifier: Apache-2.0
"""Components in one file each: outside the tree as plugins, and inside a copy of it with nothing else changed."""
import itertools
import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from support import PROGRAM, ROOT, blast, config_of, network_of

# A ring of routers, written as somebody outside would: no grid, no distance.
RING = r"""
#include "flitwarp/topology.h"

struct ring_config {
    uint32_t routers;
};

static const struct option ring_options[] = {
    OPTION_U32(struct ring_config, routers, "8", 3, 1000, "routers", "routers in the ring"),
    OPTION_END,
};

static void ring_shape(const void *config, struct arena *arena, struct topology *topology)
{
    const struct ring_config *ring = config;
    (void)arena;
    topology->routers = topology->terminals = ring->routers;
    topology->concentration = 1;
    topology->ports = 2;
}

static bool ring_peer(const struct topology *topology, uint32_t router, uint32_t port, struct router_port *peer)
{
    uint32_t step = port == 0 ? 1 : topology->routers - 1;
    *peer = (struct router_port){(router + step) % topology->routers, 1 - port};
    return true;
}

static const struct topology_ops ring = {
    .name = "ring",
    .summary = "routers in a circle",
    .options = ring_options,
    .example = "{\"type\": \"ring\", \"routers\": 8}",
    .shape = ring_shape,
    .peer = ring_peer,
};
REGISTER_TOPOLOGY(ring);
"""

REVERSE = r"""
#include "flitwarp/traffic.h"

static uint32_t reverse_destination(const struct traffic *traffic, uint32_t source, struct random *random)
{
    (void)random;
    return traffic->terminals - 1 - source;
}

static const struct traffic_ops reverse = {
    .name = "reverse",
    .summary = "from i to N-1-i",
    .destination = reverse_destination,
};
REGISTER_TRAFFIC(reverse);
"""

# The last input first: unfair on purpose, so that its effect shows.
LAST = r"""
#include "flitwarp/arbiter.h"

static uint32_t last_pick(const void *state, const struct arbitration *arbitration)
{
    uint32_t winner = 0;
    (void)state;
    BITS_EACH(input, arbitration->requests, arbitration->words)
        winner = (uint32_t)input;
    return winner;
}

static const struct arbiter_ops last = {
    .name = "last",
    .summary = "the highest input that asks",
    .pick = last_pick,
};
REGISTER_ARBITER(last);
"""

# A motif, a token that goes from rank to rank, round and round; a reader, of lines FROM TO BYTES.
RELAY, PINGS = (re.search(rf"^```c {name}.c$\n(.*?)^```$", (ROOT / "docs" / "extending.md").read_text(), re.M | re.S)[1]
                for name in ("relay", "pings"))

SOURCES = {"ring": ("topology", RING), "reverse": ("traffic", REVERSE), "last": ("arbiter", LAST), "relay": ("motif", RELAY),
           "pings": ("trace_reader", PINGS)}


def compile_plugin(directory, name, text):
    (directory / f"{name}.c").write_text(text)
    subprocess.run(["gcc", "-std=c17", "-Wall", "-Wextra", "-Werror", "-fPIC", "-shared", f"-I{ROOT / 'include'}",
                    f"{name}.c", "-o", f"{name}.so"], cwd=directory, check=True)
    return directory / f"{name}.so"


@pytest.fixture(scope="module")
def plugins(tmp_path_factory):
    """--plugin arguments that load all of them."""
    directory = tmp_path_factory.mktemp("plugins")
    return list(itertools.chain.from_iterable(
        ("--plugin", str(compile_plugin(directory, name, text))) for name, (_, text) in SOURCES.items()))


def call(*arguments, cwd=None, status=0):
    ended = subprocess.run(list(map(str, arguments)), cwd=cwd, capture_output=True, text=True, timeout=60, check=False)
    assert ended.returncode == status, f"exit status {ended.returncode}: {ended.stderr}"
    return ended


def results_of(program, config, tmp_path, *arguments):
    (tmp_path / "config.json").write_text(json.dumps(config))
    return json.loads(call(*program, "run", tmp_path / "config.json", "--quiet", *arguments).stdout)


@pytest.mark.parametrize("name", SOURCES)
def test_plugin_appears_in_list_explain_and_schema(name, plugins):
    kind = SOURCES[name][0]
    program = [PROGRAM, *plugins]
    summary = re.search(r'\.summary = "(.*)"', SOURCES[name][1]).group(1)
    assert {"kind": kind, "name": name, "summary": summary, "device": False} in json.loads(call(*program, "list", "--json").stdout)
    assert call(*program, "explain", kind, name).stdout.startswith(f"{kind} {name}: {summary}")
    schema = json.loads(call(*program, "schema").stdout)
    assert f"{kind}.{name}" in schema["$defs"] and name in schema["$defs"][kind]["anyOf"][0]["enum"]
    assert not any(entry["name"] == name for entry in json.loads(call(PROGRAM, "list", "--json").stdout))


@pytest.mark.parametrize("routers", [7, 8])
def test_ring_has_the_mean_distance_of_a_ring(routers, plugins, tmp_path):
    config = config_of(network_of({"type": "ring", "routers": routers}, "minimal", {"num_vcs": routers // 2}),
                       blast(0.1, warmup=500, sample=20000))
    application = results_of([PROGRAM, *plugins], config, tmp_path)["applications"][0]
    distances = [min(i, routers - i) for i in range(1, routers)]
    assert application["hops"]["mean"] == pytest.approx(sum(distances) / len(distances), rel=0.02)
    assert application["hops"]["max"] == routers // 2 and application["nonminimal_share"] == 0
    assert not application["saturated"]


def test_ring_needs_a_vc_a_hop_and_its_options_are_checked(plugins, tmp_path):
    program = [PROGRAM, *plugins]
    for topology, message in (({"type": "ring", "routers": 8}, '"minimal" needs 4 VCs'),
                              ({"type": "ring", "routers": 2}, "network.topology.routers: 2 is below 3"),
                              ({"type": "ring", "router": 8}, "did you mean 'routers'?")):
        (tmp_path / "config.json").write_text(json.dumps(config_of(network_of(topology, "minimal"), blast(0.1))))
        assert message in call(*program, "run", tmp_path / "config.json", status=1).stderr


def test_no_results_are_written_over_a_plugin_at_work(plugins, tmp_path):
    (tmp_path / "config.json").write_text("{}")
    before = Path(plugins[1]).read_bytes()
    for command in (["run", tmp_path / "config.json", "--results", plugins[1]], ["record", tmp_path / "config.json", "-o", plugins[1]]):
        assert "is a plugin at work" in call(PROGRAM, *plugins, *command, status=1).stderr
    assert Path(plugins[1]).read_bytes() == before


def test_check_judges_a_plugin(plugins, tmp_path):
    network = network_of({"type": "ring", "routers": 8}, {"type": "minimal", "vcs": "all"}, {"num_vcs": 4})
    (tmp_path / "config.json").write_text(json.dumps(config_of(network, blast(0.1))))
    assert "deadlock is possible" in call(PROGRAM, *plugins, "check", tmp_path / "config.json", status=2).stdout
    assert "no deadlock" in call(PROGRAM, *plugins, "check", tmp_path / "config.json", "network.routing.vcs=hops").stdout


def test_reverse_sends_from_i_to_the_opposite(plugins, tmp_path):
    config = config_of(network_of({"type": "mesh", "widths": [4, 4]}), blast(0.2, "reverse", warmup=100, sample=2000))
    results = results_of([PROGRAM, *plugins], config, tmp_path, "--log", tmp_path / "packets.csv")
    rows = [line.split(",") for line in (tmp_path / "packets.csv").read_text().splitlines()[1:]]
    assert len(rows) > 1000 and all(int(row[1]) + int(row[2]) == 15 for row in rows)
    # On 4x4, |x - (3 - x)| is 3, 1, 1, 3: two on average, in each of two dimensions.
    assert results["applications"][0]["hops"]["mean"] == pytest.approx(4, rel=0.02)


def test_last_serves_one_input_and_starves_the_others(plugins, tmp_path):
    """Four terminals send to the first of them at full load: its arbiters let the highest one through."""
    allocator = {"type": "separable_input_first", "input_arbiter": "last", "output_arbiter": "last"}
    config = config_of(network_of({"type": "single_router", "terminals": 4}, "minimal",
                                  {"num_vcs": 2, "vc_allocator": allocator, "allocator": allocator, "arbiter": "last"}),
                       blast(0.9, {"type": "hotspot", "terminals": [0]}, injection="periodic", warmup=2000, sample=5000,
                             finish_limit=1000), per_terminal=True)
    shares = results_of([PROGRAM, *plugins], config, tmp_path)["applications"][0]["accepted_by_terminal"]
    assert shares[3] > 0.85 and sum(shares) == pytest.approx(1, abs=0.05) and max(shares[:3]) < 0.2
    allocator.update(input_arbiter="round_robin", output_arbiter="round_robin")
    fair = results_of([PROGRAM, *plugins], config, tmp_path)["applications"][0]["accepted_by_terminal"]
    assert fair[1:] == pytest.approx([1 / 3] * 3, abs=0.02)


@pytest.mark.parametrize("rounds", [1, 3])
def test_a_motif_goes_round_hop_by_hop(rounds, plugins, tmp_path):
    """Five ranks on an ideal network: as many messages of 100 flits, one after the other, and 7 us of computing before each."""
    network = network_of({"type": "ideal", "terminals": 5, "latency": 1000}, "minimal", {"type": "packet", "delay": 0, "buffer_depth": 4096},
                         flit_bytes=1)
    motif = {"type": "relay", "bytes": 100, "iterations": rounds, "compute": "7us"}
    config = config_of(network, {"type": "trace", "motif": motif})
    config["simulator"]["tick"] = "1ns"
    application = results_of([PROGRAM, *plugins], config, tmp_path)["applications"][0]
    assert application["completion_time"] == 5 * rounds * (7000 + 1000 + 99) and application["bytes"] == 500 * rounds


def test_a_trace_reader_reads_a_file_and_names_the_line_that_is_wrong(plugins, tmp_path):
    """Three messages of 100 flits, each answered by an empty one before the next leaves, on an ideal network."""
    trace = tmp_path / "some.pings"
    trace.write_text("# pings\n" + "0 1 100\n0 2 100  # another\n0 1 100\n")
    program = [PROGRAM, *plugins]
    facts = json.loads(call(*program, "trace-info", trace, "--json").stdout)
    assert facts["format"] == "pings" and facts["ranks"] == 3 and facts["messages"]["count"] == 6
    network = network_of({"type": "ideal", "terminals": 3, "latency": 1000}, "minimal",
                         {"type": "packet", "delay": 0, "buffer_depth": 4096}, flit_bytes=1)
    config = config_of(network, {"type": "trace", "file": str(trace)})
    config["simulator"]["tick"] = "1ns"
    application = results_of(program, config, tmp_path)["applications"][0]
    assert application["completion_time"] == 3 * (1000 + 99 + 1000) and application["bytes"] == 300
    trace.write_text("# pings\n0 1 100\n1 2\n")
    wrong = call(*program, "trace-info", trace, status=1).stderr
    assert f"{trace}:3: the line ends where a number of bytes is due" in wrong


# ---- wrong plugins ----


def refused(*plugins, cwd):
    arguments = itertools.chain.from_iterable(("--plugin", plugin) for plugin in plugins)
    ended = call(PROGRAM, *arguments, "list", cwd=cwd, status=1)
    assert ended.stdout == ""
    return ended.stderr


def test_missing_plugin_is_refused(tmp_path):
    message = refused("none.so", cwd=tmp_path)
    assert "plugin 'none.so'" in message and "No such file" in message


def test_file_that_is_no_shared_object_is_refused(tmp_path):
    (tmp_path / "text.so").write_text("no shared object at all, just text")
    assert "plugin 'text.so': cannot be loaded" in refused("text.so", cwd=tmp_path)


def test_plugin_that_needs_what_is_not_there_is_refused(tmp_path):
    compile_plugin(tmp_path, "needy", "int nowhere_defined(void); int needy(void);"
                                      "int needy(void) { return nowhere_defined(); }")
    assert "nowhere_defined" in refused("needy.so", cwd=tmp_path)


def test_plugin_without_a_component_is_refused(tmp_path):
    compile_plugin(tmp_path, "empty", "int empty; ")
    message = refused("empty.so", cwd=tmp_path)
    assert "plugin 'empty.so'" in message and "REGISTER_" in message


VERSION = int(re.search(r"define FLITWARP_INTERFACE (\d+)", (ROOT / "include/flitwarp/component.h").read_text())[1])


@pytest.mark.parametrize("other", [VERSION + 1, VERSION - 1])
def test_plugin_of_another_interface_version_is_refused(other, tmp_path):
    compile_plugin(tmp_path, "other", '#include "flitwarp/component.h"\n#undef FLITWARP_INTERFACE\n'
                                      f"#define FLITWARP_INTERFACE {other}\n{REVERSE}")
    message = refused("other.so", cwd=tmp_path)
    assert f"plugin 'other.so': is built for version {other} of the plugin interface" in message
    assert f"this program has version {VERSION}" in message and "this program's headers" in message


def test_plugin_from_before_there_were_versions_is_refused(tmp_path):
    """Its record begins with what was first in it then, the addresses of its kind and its component."""
    compile_plugin(tmp_path, "old", """
static struct { const char *kind; const void *component; void *next; } old = {"traffic", &old, 0};
void registration_add(void *registration);
__attribute__((constructor)) static void add(void) { registration_add(&old); }
""")
    message = refused("old.so", cwd=tmp_path)
    assert "plugin 'old.so': does not say which version" in message and f"this program has version {VERSION}" in message


def test_one_plugin_of_another_version_among_others_is_refused(tmp_path):
    compile_plugin(tmp_path, "right", REVERSE)
    compile_plugin(tmp_path, "other", '#include "flitwarp/component.h"\n#undef FLITWARP_INTERFACE\n'
                                      f"#define FLITWARP_INTERFACE {VERSION + 1}\n{LAST}")
    message = refused("right.so", "other.so", cwd=tmp_path)
    assert "'other.so'" in message and "right.so" not in message


def test_name_of_a_built_in_component_is_refused(tmp_path):
    compile_plugin(tmp_path, "double", REVERSE.replace('"reverse"', '"tornado"'))
    message = refused("double.so", cwd=tmp_path)
    assert "traffic 'tornado' is registered twice" in message and "double.so" in message and "unique" in message


def test_two_plugins_of_one_name_are_refused(tmp_path):
    compile_plugin(tmp_path, "one", REVERSE)
    compile_plugin(tmp_path, "two", REVERSE)
    message = refused("one.so", "two.so", cwd=tmp_path)
    assert "one.so" in message and "two.so" in message


@pytest.mark.parametrize("right, wrong, message", [
    ("1 - port}", "port}", 'peer() of "ring" leads from router 0 port 0 to router 1 port 0, which does not lead back'),
    ("1 - port}", "2}", 'peer() of "ring" leads from router 0 port 0 to router 1 port 2, which is not there'),
    ("concentration = 1", "concentration = 0", 'shape() of "ring" says 8 routers, 8 terminals and 0 at each router'),
], ids=["one way", "no port", "no place for terminals"])
@pytest.mark.parametrize("command", ["run", "check", "topology"])
def test_a_topology_that_contradicts_itself_is_refused(right, wrong, message, command, tmp_path):
    plugin = compile_plugin(tmp_path, "wrong", RING.replace(right, wrong))
    (tmp_path / "config.json").write_text(json.dumps(config_of(network_of("ring", "minimal", {"num_vcs": 4}), blast(0.1))))
    assert f"network.topology: {message}" in call(PROGRAM, "--plugin", plugin, command, tmp_path / "config.json", status=1).stderr


def test_a_plugin_named_twice_is_loaded_once(tmp_path):
    compile_plugin(tmp_path, "one", REVERSE)
    call(PROGRAM, "--plugin", "one.so", "--plugin", "./one.so", "list", cwd=tmp_path)


# ---- inside the tree ----

# Stands before the compiler: what the program under test was built from and is no older than its source is not compiled again.
REUSE = """#!/bin/sh
for word; do
    [ "$before" != -o ] || object=$word
    before=$word
done
built={folder}/$object
[ "$built" -nt "$before" ] && cp "$built" "$object" || exec "$@"
"""


def test_one_file_each_in_a_copy_of_the_tree_is_enough(plugins, tmp_path):
    """A file each is added, nothing else is touched, and the results are those of the plugins."""
    copy = tmp_path / "copy"
    for part in ("src", "include", "packaging", "python"):
        shutil.copytree(ROOT / part, copy / part)
    shutil.copytree(ROOT / "tests" / "coverage", copy / "tests" / "coverage")
    (copy / "tests" / "unit").mkdir()
    shutil.copy(ROOT / "CMakeLists.txt", copy)
    folders = {"topology": "network/topology", "arbiter": "network/arbiter", "traffic": "workload/traffic",
               "motif": "workload/motif", "trace_reader": "workload/trace/reader"}
    for name, (kind, text) in SOURCES.items():
        (copy / "src" / folders[kind] / f"{name}.c").write_text(text)
    (copy / "tests" / "unit" / "main.c").write_text("int main(void) { return 0; }\n")
    reuse = tmp_path / "reuse"
    reuse.write_text(REUSE.replace("{folder}", str(Path(PROGRAM).resolve().parent)))
    reuse.chmod(0o755)
    counts = "FLITWARP_COVERAGE:BOOL=ON" in (Path(PROGRAM).resolve().parent / "CMakeCache.txt").read_text()
    for command in (["cmake", "-S", copy, "-B", tmp_path / "build", "-G", "Ninja", "-DCMAKE_C_FLAGS_RELEASE=-O0",
                     f"-DCMAKE_C_COMPILER_LAUNCHER={reuse}", f"-DFLITWARP_COVERAGE={'ON' if counts else 'OFF'}"],
                    ["cmake", "--build", tmp_path / "build", "--target", "flitwarp"]):
        subprocess.run(command, capture_output=True, check=True, timeout=300)
    program = tmp_path / "build" / "flitwarp"
    listed = {entry["name"] for entry in json.loads(call(program, "list", "--json").stdout)}
    assert set(SOURCES) <= listed
    config = config_of(network_of({"type": "ring", "routers": 8}, "minimal", {"num_vcs": 4, "arbiter": "last"}),
                       blast(0.2, "reverse", warmup=200, sample=2000))
    inside, outside = (results_of(way, config, tmp_path) for way in ([program], [PROGRAM, *plugins]))
    assert inside["simulation"]["digest"] == outside["simulation"]["digest"]
