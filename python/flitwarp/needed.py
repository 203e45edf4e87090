# SPDX-License-Identifier: Apache-2.0
"""What to do where a package that figures need is missing."""

from __future__ import annotations

import sys

__all__ = ["how_to_install"]


def how_to_install(error: ImportError) -> str:
    """The error and what installs it, for the Python that runs."""
    if sys.prefix != sys.base_prefix:
        return f"{error}; install it (pip install numpy matplotlib)"
    return f"{error}; install it (Debian: python3-matplotlib, python3-numpy)"
