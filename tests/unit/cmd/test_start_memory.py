# SPDX-License-Identifier: Apache-2.0
import ctypes
import subprocess
import sys

import pytest

_PROGRAM = """
import ctypes, sys
from climate.cmd import memory

class Info(ctypes.Structure):
    _fields_ = [(name, ctypes.c_size_t) for name in (
        'arena', 'ordblks', 'smblks', 'hblks', 'hblkhd', 'usmblks', 'fsmblks', 'uordblks',
        'fordblks', 'keepcost')]

if sys.argv[1] == 'told':
    assert memory.return_large_blocks()
# What glibc takes for its new limit.
freed = bytearray(16 * 1024 * 1024)
del freed
info = ctypes.CDLL(None).mallinfo2
info.restype = Info
before = info().hblks
kept = bytearray(1024 * 1024)
print(info().hblks - before)
"""


@pytest.mark.skipif(not hasattr(ctypes.CDLL(None), 'mallinfo2'), reason='The C library is another.')
@pytest.mark.parametrize(('how', 'apart'), [('as it is', '0'), ('told', '1')])
def test_what_is_large_is_taken_from_the_system_and_not_kept_by_a_thread(how, apart):
    done = subprocess.run([sys.executable, '-c', _PROGRAM, how], capture_output=True, text=True,
                          check=True)
    assert done.stdout.strip() == apart
