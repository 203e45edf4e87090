# SPDX-License-Identifier: Apache-2.0
"""Calls one function of a file in a process of its own: python3 -m flitwarp.call FILE FUNCTION ARGUMENTS PRODUCT.

Arguments are a JSON list; what the function returns is written to PRODUCT as JSON.
"""

from __future__ import annotations

import importlib.util
import json
import os
import sys

from .files import write_file


def main() -> int:
    file, function, arguments, product = sys.argv[1:]
    spec = importlib.util.spec_from_file_location("flitwarp_called", file)
    if spec is None or spec.loader is None:
        raise ImportError(f"'{file}' is no Python file")
    sys.path.insert(0, os.path.dirname(file))
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    result = getattr(module, function)(*json.loads(arguments))
    write_file(product, json.dumps(result))
    return 0


if __name__ == "__main__":
    sys.exit(main())
