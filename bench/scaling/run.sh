#!/bin/bash
# Wall-clock seconds and speedup by the number of threads: bench/scaling/run.sh PROGRAM CONFIG THREADS...
program=$1 config=$2
shift 2
for threads in "$@"; do
    sync=$([ "$threads" = 1 ] && echo sequential || echo conservative)
    "$program" run "$config" --quiet --sync "$sync" --threads "$threads" |
        python3 -c '
import json, sys
s = json.load(sys.stdin)["simulation"]
print(sys.argv[1], s["sync"]["threads"], "threads:", round(s["wall_seconds"], 3), "s wall,", round(s["flit_hops"] / s["wall_seconds"] / 1e6, 2),
      "M flit-hops/s, windows", s["sync"].get("windows", 0), "remote", round(s["sync"].get("remote_share", 0), 4), "waiting",
      round(s["sync"].get("waiting_share", 0), 3), s["digest"][:8])' "$config"
done
