# SPDX-License-Identifier: Apache-2.0
"""What the C library does with memory that is free again."""
import ctypes

# malloc.h of glibc.
_M_MMAP_THRESHOLD = -3
_LARGE_BYTES = 128 * 1024


def give_back_large():
    """Let what is larger than 128 KiB go back to the system as soon as it is free.

    Such columns of moments live as long as one search. By itself glibc begins so, but takes the
    largest that was freed, of up to 32 MiB, for the new limit (mallopt(3), M_MMAP_THRESHOLD); what
    is smaller stays with the thread that had it, and a manager has many of those.

    :returns: False where the C library has no such limit.
    """
    library = ctypes.CDLL(None)
    return hasattr(library, 'mallopt') and bool(library.mallopt(_M_MMAP_THRESHOLD, _LARGE_BYTES))
