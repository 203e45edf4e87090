-- SPDX-License-Identifier: Apache-2.0
-- A study on disk, see store.py.
create table facts (name text primary key, value text not null) without rowid;
create table outcomes (
    key text primary key,
    status integer not null,        -- exit status of the command
    message text not null,          -- what it printed when it failed
    document text,                  -- the results, as JSON
    attempts integer not null,
    started real,                   -- seconds since the epoch
    wall_seconds real,
    cpu_seconds real
) without rowid;
create table runs (
    name text primary key,
    key text not null,              -- of its outcome
    line integer not null,          -- combination of variables other than load and seed
    x real,                         -- the load, or whatever runs along a line
    seed integer not null,
    variables text not null,        -- {"VCs": 2, "load": 0.3}, as JSON
    overrides text not null,        -- ["network.router.num_vcs=2", ...], as JSON
    config text not null            -- effective settings, as JSON
) without rowid;

-- The viewer's question. Its columns are the keys of the answer; texts are JSON.
select json_quote(name) as name, status, line, x, seed, variables, document as results
from runs join outcomes using (key) order by line, x, seed
