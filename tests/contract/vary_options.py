# SPDX-License-Identifier: Apache-2.0
"""Which options do nothing? Varies each setting of a configuration by itself and compares results:

    python3 tests/contract/vary_options.py examples/omnipath.json ...

A line for each setting that was accepted with other values and changed nothing. It may be void there (then its row should say
ONLY_WITH or NOT_WITH, or its help what it is for), or the configuration too tame to show it. Takes about a minute a
configuration; no test, since what is listed has to be judged.
"""
import json
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from support import OF_THE_RUN, PROGRAM, schema  # noqa: E402

MACHINE = (*OF_THE_RUN, "bytes_per_router")  # not of the network


def ask(*arguments):
    return json.loads(subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True, check=True).stdout)


def outcome(file, *overrides):
    """What a run says beside its settings; None: it is refused."""
    try:
        ended = subprocess.run([PROGRAM, "run", file, *overrides, "--results", "-", "--quiet"], capture_output=True, text=True,
                               timeout=60, check=False)
    except subprocess.TimeoutExpired:
        return "too long"
    if ended.returncode in (1, 3):
        return None
    results = json.loads(ended.stdout)
    return {**results, "config": None, "simulation": {key: value for key, value in results["simulation"].items() if key not in MACHINE}}


def forms(row, definitions):
    """The plain forms that a setting may have, without the kinds of reference that all have."""
    if "$ref" in row:
        name = row["$ref"].rsplit("/", 1)[1]
        return [] if name in ("reference", "include") else forms(definitions[name], definitions)
    return [form for one in row["anyOf"] for form in forms(one, definitions)] if "anyOf" in row else [row]


def settings(row, value, definitions, path=()):
    """(path, forms, value) of each setting; components by the rows of the chosen one."""
    for form in forms(row, definitions):
        if isinstance(value, dict) and form.get("type") == "object":
            chosen = [branch["then"] for branch in form.get("allOf", ())
                      if branch["if"]["properties"]["type"]["const"] == value.get("type")]
            properties = forms(chosen[0], definitions)[0]["properties"] if chosen else form["properties"]
            if "type" in value:
                yield path, [{"enum": form["properties"]["type"].get("enum", [])}], value["type"]
            for key in [key for key in value if key in properties and key != "type"]:
                yield from settings(properties[key], value[key], definitions, (*path, key))
        elif isinstance(value, list) and value and isinstance(value[0], dict) and form.get("type") == "array":
            for number, item in enumerate(value):
                yield from settings(form["items"], item, definitions, (*path, number))
    if not isinstance(value, dict) and not (isinstance(value, list) and value and isinstance(value[0], dict)):
        yield path, forms(row, definitions), value


def others(form, value):
    """Some other values of a form."""
    kind = form.get("type")
    if "enum" in form:
        return [word for word in form["enum"] if word != value]
    if kind == "boolean":
        return [not value]
    if kind in ("integer", "number"):
        numbers = [2 * value, value + 1, value / 2, 0.3] if type(value) in (int, float) else [1, 2, 4, 16, 0.5]
        return [int(number) if number == int(number) else number for number in numbers if number != value and
                form.get("minimum", 0) <= number <= form.get("maximum", 1e9) and (kind == "number" or number == int(number))]
    if kind == "array" and isinstance(value, list):
        lists = [[item + 1 for item in value], value[::-1]] if value and type(value[0]) in (int, float) else [[1], [2, 1]]
        return [other for other in lists if other != value]
    return []


def study(file, document):
    usual = outcome(file)
    for path, allowed, value in settings(document, ask("settings", file)["config"], document["$defs"]):
        if path[0] == "simulator":  # how it runs must not show
            continue
        name = ".".join(map(str, path))
        tried = []
        for other in [other for form in allowed for other in others(form, value)]:
            result = outcome(file, f"{name}={json.dumps(other)}")
            if result is not None and result != usual:
                break
            tried += [other] if result else []
        else:
            if tried:
                print(f"{Path(file).name}: {name} is {json.dumps(value)}; {', '.join(map(json.dumps, tried))} change nothing", flush=True)


if __name__ == "__main__":
    for name in sys.argv[1:]:
        study(name, schema())
