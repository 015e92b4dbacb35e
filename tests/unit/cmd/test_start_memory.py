# SPDX-License-Identifier: Apache-2.0
"""The settings of the memory: malloc for large blocks, and how often Python looks for garbage."""
import ctypes
import gc
import subprocess
import sys

import pytest

from climate.cmd import start

_PROGRAM = """
import ctypes, sys
from climate.cmd import start

class Info(ctypes.Structure):
    _fields_ = [(name, ctypes.c_size_t) for name in (
        'arena', 'ordblks', 'smblks', 'hblks', 'hblkhd', 'usmblks', 'fsmblks', 'uordblks',
        'fordblks', 'keepcost')]

if sys.argv[1] == 'set':
    assert start.return_large_blocks()
# glibc raises its threshold to the size of a freed block.
freed = bytearray(16 * 1024 * 1024)
del freed
info = ctypes.CDLL(None).mallinfo2
info.restype = Info
before = info().hblks
kept = bytearray(1024 * 1024)
print(info().hblks - before)
"""


@pytest.mark.skipif(not hasattr(ctypes.CDLL(None), 'mallinfo2'), reason='It is not glibc.')
@pytest.mark.parametrize(('how', 'apart'), [('as it is', '0'), ('set', '1')])
def test_large_blocks_are_mapped_apart_once_the_threshold_is_set(how, apart):
    done = subprocess.run([sys.executable, '-c', _PROGRAM, how], capture_output=True, text=True,
                          check=True)
    assert done.stdout.strip() == apart


def test_python_looks_for_garbage_less_often():
    before = gc.get_threshold()
    try:
        start.collect_garbage_less_often()
        assert gc.get_threshold() == (20_000, *before[1:])
    finally:
        gc.set_threshold(*before)
