# SPDX-License-Identifier: Apache-2.0
"""Runs the benchmarks: ``python -m benchmarks [--form short|bench|long] [--rows 1,2]``."""
import sys

from benchmarks import runner

if __name__ == '__main__':
    sys.exit(runner.main())
