# SPDX-License-Identifier: Apache-2.0
"""Durations, numbers of statements, and their growth.

``python -m benchmarks`` runs them all; each module can be run by its name. What the tests arrange
with serves here too.
"""
import pathlib
import sys

from climate import backend

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / 'tests'))
# Here, as it must come before the modules import the parts of Climate that they measure.
backend.prefer_threads()
