# SPDX-License-Identifier: Apache-2.0
"""The greatest memory that this process had since a moment, as Linux counts it."""
import pathlib

_STATUS = pathlib.Path('/proc/self/status')
_PEAK = pathlib.Path('/proc/self/clear_refs')


def anew():
    """Forget the peak until now; return the memory of this moment in MB."""
    _PEAK.write_text('5')
    return _megabytes('VmRSS')


def peak():
    """Return the peak since then in MB."""
    return _megabytes('VmHWM')


def _megabytes(name):
    line = next(each for each in _STATUS.read_text().splitlines() if each.startswith(name))
    return int(line.split()[1]) / 1024
