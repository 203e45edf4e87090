# SPDX-License-Identifier: Apache-2.0
"""500 wrong configurations, made at random from the examples' effective settings and the option tables: each has a mistake or
two somewhere. Each is refused with status 1 and a message that names the file, the line, the setting and what would be
accepted, and nothing is written. Every tenth runs under sanitizers where $FLITWARP_ASAN is built.
"""
import json
import os
import random
import re
import subprocess
from concurrent.futures import ThreadPoolExecutor

import pytest

from support import PROGRAM, ROOT
from test_refusals import ASAN, BASE, REFUSING, changed, shown

COUNTS = {"value": 230, "two values": 40, "key": 80, "duplicate": 40, "text": 50, "contradiction": 60}
HELPS = re.compile(r"expected|accepted|did you mean|\d to [\d.e+]+|needs?\b|is (not )?(above|below)|at most|at least|the last one is|twice|has \d+ classes|on \d+ terminals")
MARK = "@wrong@"


def flitwarp(*arguments):
    return json.loads(subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, check=True).stdout)


# ---- settings and what they accept ----

def parts(schema):
    """The alternatives that an option accepts, without references to other settings."""
    if "anyOf" not in schema:
        return [schema]
    return [part for inner in schema["anyOf"] if inner.get("$ref") != "#/$defs/reference" for part in parts(inner)]


def rows_of(schema, value, definitions):
    """The option rows of a value that is a block or a component; None where it is neither."""
    for part in parts(schema):
        if part.get("type") == "object" and isinstance(value, dict):
            return part["properties"]
        kind = part.get("$ref", "").rpartition("/")[2]
        if kind and isinstance(value, dict) and "type" in value:
            return definitions[f"{kind}.{value['type']}"]["properties"]
    return None


def settings_in(config, properties, definitions, path=()):
    """(path, alternatives) of every setting."""
    for key, value in config.items():
        if key == "type" or key not in properties:
            continue
        yield (*path, key), parts(properties[key])
        rows = rows_of(properties[key], value, definitions)
        if rows:
            yield from settings_in(value, rows, definitions, (*path, key))
        items = [part["items"] for part in parts(properties[key]) if part.get("type") == "array"]
        for i, element in enumerate(value if items and isinstance(value, list) else []):
            rows = rows_of(items[0], element, definitions)
            if rows:
                yield from settings_in(element, rows, definitions, (*path, key, i))


def wrong_value(draw, alternatives):
    """A value that none of the alternatives takes."""
    kinds = {part.get("type", "component" if "$ref" in part else "word") for part in alternatives}
    numbers = [part for part in alternatives if part.get("type") in ("integer", "number")]
    takes_text = "string" in kinds and not any("pattern" in part for part in alternatives)
    pool = [{"no": {"such": [{"thing": []}]}}]
    deep = []
    for _ in range(draw.randint(5, 150)):
        deep = [deep]
    if "array" not in kinds:
        pool += [[], [[1], [2]], deep]
    if "null" not in kinds:
        pool.append(None)
    if "boolean" not in kinds:
        pool += [True, False]
    if not takes_text:
        pool += ["", "10 parsec", "-5ns", "5", "tours\u00e9", "x" * 500]
    if not numbers:
        pool += [5, -1.5, 1e300]
    for part in numbers:
        pool += [part["minimum"] - 1, 1e300] if "minimum" in part else []
        pool += [part["maximum"] + 1] if part.get("maximum", 2**53) < 2**53 else []
        if part["type"] == "integer" and kinds == {"integer"}:
            pool.append(part.get("minimum", 0) + 0.5)
    for part in alternatives:
        pool += [part["enum"][0][:-1] + "_", part["enum"][-1].upper()] if "enum" in part else []
    return draw.choice(pool)


# ---- mistakes: (text of the configuration, [(line, parts of a message)]) ----

def with_marks(config, places):
    """The text with its settings at `places` marked, and their lines."""
    config = json.loads(json.dumps(config))
    for number, path in enumerate(places):
        block = config
        for step in path[:-1]:
            block = block[step]
        block[path[-1]] = f"{MARK}{number}"
    text = json.dumps(config, indent=1)
    lines = [next(i for i, line in enumerate(text.splitlines(), 1) if f'"{MARK}{number}"' in line) for number in range(len(places))]
    return text, lines


def with_values(draw, config, rows, count):
    chosen = []
    while len(chosen) < count:
        path, alternatives = draw.choice(rows)
        if not any(path[:len(other)] == other or other[:len(path)] == path for other, _ in chosen):
            chosen.append((path, alternatives))
    text, lines = with_marks(config, [path for path, _ in chosen])
    for number, (_, alternatives) in enumerate(chosen):
        text = text.replace(f'"{MARK}{number}"', json.dumps(wrong_value(draw, alternatives)))
    return text, [(line, [shown(".".join(map(str, path)))]) for line, (path, _) in zip(lines, chosen)]


def with_key(draw, config, rows):
    path = draw.choice([path for path, _ in rows if isinstance(path[-1], str) and len(path[-1]) > 3])
    key, at = path[-1], draw.randrange(len(path[-1]) - 1)
    misspelt = draw.choice([key[:at] + key[at + 1] + key[at] + key[at + 2:], key[:at] + key[at + 1:], key + "s", key[:at] + "_" + key[at:]])
    if any(other == (*path[:-1], misspelt) for other, _ in rows):
        misspelt += "z"
    text, (line,) = with_marks(config, [path])
    text = text.replace(f'"{key}": "{MARK}0"', f'"{misspelt}": 1')
    return text, [(line, [shown(".".join(map(str, (*path[:-1], misspelt)))), "unknown key"])]


def with_duplicate(draw, config, rows):
    path, _ = draw.choice([row for row in rows if isinstance(row[0][-1], str)])
    text, (line,) = with_marks(config, [path])
    text = text.replace(f'"{path[-1]}": "{MARK}0"', f'"{path[-1]}": 1,\n"{path[-1]}": 2')
    return text, [(line + 1, [path[-1]])]


def with_broken_text(draw, config):
    """A character that JSON is made of is missing, or the end of the file is."""
    text = json.dumps(config, indent=1)
    if draw.random() < 0.3:
        return text[:draw.randrange(1, len(text) - 1)], [(None, [])]
    places, inside = [], False
    for i, character in enumerate(text):
        if character == '"':
            inside = not inside
        elif not inside and character in "{}[],:":
            places.append(i)
    at = draw.choice(places)
    return text[:at] + draw.choice(["", ";", "''"]) + text[at + 1:], [(None, [])]


APPLICATION = "workload__applications__0"
CONTRADICTIONS = [  # settings that are right one by one, and what the message is about
    (lambda n: {"simulator__threads": n + 1}, "simulator.threads"),
    (lambda n: {"simulator__check_reversal": True, "simulator__threads": n}, "simulator."),
    (lambda n: {"network__topology": {"type": "dragonfly", "routers": n + 1, "global": 1, "groups": n + 3}}, "network.topology.groups"),
    (lambda n: {"network__topology": {"type": "jellyfish", "routers": n + 3, "degree": n + 3}}, "network.topology"),
    (lambda n: {"network__topology": {"type": "butterfly"}}, "network.routing"),
    (lambda n: {"network__router__buffer_exclusive": 9 + n}, "network.router.buffer_exclusive"),
    (lambda n: {f"{APPLICATION}__protocol_class": n}, "protocol_class"),
    (lambda n: {f"{APPLICATION}__traffic": {"type": "hotspot", "terminals": [15 + n]}}, "traffic"),
    (lambda n: {"network__topology__widths": [3, 2 * n + 3], f"{APPLICATION}__traffic": "bit_reverse"}, "traffic"),
    (lambda n: {f"{APPLICATION}__allocation": {"type": "random", "count": 16 + n}}, "allocation"),
    (lambda n: {f"{APPLICATION}__allocation": {"type": "list", "terminals": [n, n]}}, "allocation"),
    (lambda n: {f"{APPLICATION}": {"type": "stencil", "ranks": [4, 4 + n]}}, "applications[0]"),
    (lambda n: {"network__channel__latencies": [1] * (n + 2)}, "network.channel.latencies"),
    (lambda n: {"network__topology": {"type": "torus", "widths": [n + 3, 4]}, "network__router__num_vcs": 1}, "network.router.num_vcs"),
]


def with_contradiction(draw, number):
    settings, place = CONTRADICTIONS[number % len(CONTRADICTIONS)]
    return json.dumps(changed(**settings(draw.randint(1, 9))), indent=1), [(None, [place])]


def generated():
    """(name, text, [(line or None, parts of a message)])."""
    if not os.access(PROGRAM, os.X_OK):
        return
    draw = random.Random(10)
    schema = flitwarp("schema")
    configs = []
    for example in sorted((ROOT / "examples").glob("*.json")):
        config = flitwarp("settings", str(example))["config"]
        configs.append((config, list(settings_in(config, schema["properties"], schema["$defs"]))))
    makers = {"value": lambda _: with_values(draw, *draw.choice(configs), 1), "two values": lambda _: with_values(draw, *draw.choice(configs), 2),
              "key": lambda _: with_key(draw, *draw.choice(configs)), "duplicate": lambda _: with_duplicate(draw, *draw.choice(configs)),
              "text": lambda _: with_broken_text(draw, draw.choice(configs)[0]), "contradiction": lambda i: with_contradiction(draw, i)}
    for what, count in COUNTS.items():
        for i in range(count):
            yield (f"{what} {i}", *makers[what](i))


def complaint(folder, number, name, text, expected):
    """What is wrong with how a configuration is refused; None: nothing."""
    place = folder / str(number)
    place.mkdir()
    (place / "config.json").write_text(text)
    ended = subprocess.run([REFUSING if number % 10 == 0 else PROGRAM, "run", "config.json", "--results", "results.json", "--log", "packets.csv"],
                           cwd=place, capture_output=True, text=True, timeout=60, check=False)
    wrong = []
    if ended.returncode != 1 or ended.stdout or "Sanitizer" in ended.stderr or "runtime error" in ended.stderr:
        wrong.append(f"status {ended.returncode}")
    if os.listdir(place) != ["config.json"]:
        wrong.append(f"left behind: {os.listdir(place)}")
    for line, words in expected:
        found = [message for message in ended.stderr.splitlines() if all(word in message for word in words)]
        if not any(HELPS.search(message) and re.match(rf"config\.json:{line or '[0-9]+'}[:,]", message) for message in found):
            wrong.append(f"no message for line {line}, {words}")
    return f"{name}: {'; '.join(wrong)}\n{ended.stderr}{text if len(text) < 3000 else ''}" if wrong else None


def test_each_of_500_wrong_configurations_is_refused(tmp_path):
    cases = list(generated())
    assert len(cases) == 500
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        complaints = list(filter(None, pool.map(lambda case: complaint(tmp_path, case[0], *case[1]), enumerate(cases))))
    assert not complaints, f"{len(complaints)} of {len(cases)}:\n" + "\n".join(complaints[:10])


def test_the_examples_that_mistakes_are_made_in_are_right():
    assert len({line for line, _ in CONTRADICTIONS}) == len(CONTRADICTIONS)
    for example in sorted((ROOT / "examples").glob("*.json"))[::10]:
        assert subprocess.run([PROGRAM, "settings", example], capture_output=True, check=False).returncode == 0
    assert BASE == changed()


@pytest.mark.skipif(not ASAN, reason="no build with sanitizers")
def test_sanitizers_see_a_part_of_them():
    assert REFUSING == ASAN
