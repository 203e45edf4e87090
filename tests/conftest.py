# SPDX-License-Identifier: Apache-2.0
import itertools
import os
import signal
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

# A shell starts what it sends to the background with SIGINT ignored, which programs inherit: those that are interrupted here would not
# hear of it before they have a handler.
signal.signal(signal.SIGINT, signal.default_int_handler)


# The files that take longest, which begin when they run side by side: none is left to run alone at the end.
LONG = ("device/test_same_on_device.py", "contract/test_everything_runs.py", "reproduce/test_supersim_studies.py", "contract/test_ranks.py",
        "contract/test_digests.py", "reproduce/test_single_switch.py", "reproduce/test_booksim.py", "python/test_slurm.py",
        "reproduce/test_cubes.py", "viewer/test_page.py")


def pytest_collection_modifyitems(items):
    first = {path: place for place, path in enumerate(LONG, -len(LONG))}
    items.sort(key=lambda item: first.get("/".join(item.path.parts[-2:]), 0))


@pytest.fixture(scope="session", autouse=True)
def compiled_kernels(tmp_path_factory):
    """Where PoCL, an OpenCL device on any processor, keeps what it has compiled: not in the home of who tests."""
    os.environ["POCL_CACHE_DIR"] = str(tmp_path_factory.mktemp("kernels"))


@pytest.fixture(scope="module")
def fresh_folders(request, tmp_path_factory):
    place = tmp_path_factory.mktemp(request.module.__name__)
    return (place / str(number) for number in itertools.count())


@pytest.fixture
def tmp_path(fresh_folders):
    """As pytest's, which looks through all folders of earlier tests for a free name: 4 ms each among thousands."""
    folder = next(fresh_folders)
    folder.mkdir()
    return folder
