# SPDX-License-Identifier: Apache-2.0
"""docs/topologies.md has a row for each topology, whose numbers and picture are those of the network that it draws."""
import csv
import json
import re
import subprocess
from collections import Counter

import pytest

from support import PROGRAM, ROOT

PAGE = ROOT / "docs" / "topologies.md"
ROW = re.compile(r"^\| !\[(\w+)\]\((images/topologies/\w+\.svg)\) \| `(\{.*?\})` \| (.*) \|$", re.M)


def rows():
    """(name, picture, settings, cells of routers, channels, diameter, choose it for and paper)."""
    return [(name, picture, json.loads(settings), cells.split(" | ")) for name, picture, settings, cells in ROW.findall(PAGE.read_text())]


def last_number(cell):
    return int(re.findall(r"\d+", cell)[-1])


def test_every_topology_has_one_row():
    listed = subprocess.run([PROGRAM, "list", "topology"], capture_output=True, text=True, check=True).stdout
    assert sorted(line.split()[1] for line in listed.splitlines()) == sorted(name for name, *_ in rows())


@pytest.mark.parametrize("name, picture, settings, cells", [pytest.param(*row, id=row[0]) for row in rows()])
def test_row_is_true_of_what_it_draws(name, picture, settings, cells, tmp_path):
    (tmp_path / "config.json").write_text(json.dumps({"network": {"topology": settings}}))
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    command = [PROGRAM, "topology", tmp_path / "config.json", "--json", "--export", tmp_path / "links.csv"]
    [found] = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)["networks"]
    with open(tmp_path / "links.csv", encoding="utf-8") as file:
        links = [(link["from"], link["to"]) for link in csv.DictReader(file) if link["class"] != "terminal"]
    channels = Counter(end for link in links for end in link)
    assert settings["type"] == name and len(cells) == 5
    assert [last_number(cell) for cell in cells[:3]] == [found["routers"], max(channels.values(), default=0), found["diameter"]]
    drawing = (ROOT / "docs" / picture).read_text()
    assert drawing.count('fill="#ffffff" stroke=') == found["routers"] and drawing.count("<path") == len(links)
