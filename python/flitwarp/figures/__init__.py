# SPDX-License-Identifier: Apache-2.0
"""Figures of paper quality. Each function returns a matplotlib figure; save() and write() put it into files.

    from flitwarp.curve import curves_of_files
    from flitwarp.figures import load_latency, save
    from flitwarp.results import Results
    curves = curves_of_files([Results.read(path) for path in paths])
    save(load_latency(curves, size="column"), "load_latency")

All take the keywords of style.Layout: title, x_label, y_label, log, xlim, ylim, size, legend. The command
`flitwarp-plot` draws the same from files. docs/figures.md shows one of each.
"""

from .bars import comparison, jobs, throughput
from .distribution import hop_histogram, latency_cdf, latency_pdf, latency_percentile
from .load import load_column, load_latency, offered_accepted
from .maps import channel_heatmap, communication_matrix, interference
from .panels import panels
from .style import Layout, save, write
from .timeline import scatter, time_series

__all__ = ["Layout", "channel_heatmap", "communication_matrix", "comparison", "hop_histogram", "interference", "jobs", "latency_cdf",
           "latency_pdf", "latency_percentile", "load_column", "load_latency", "offered_accepted", "panels", "save", "scatter",
           "throughput", "time_series", "write"]
