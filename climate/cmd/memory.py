# SPDX-License-Identifier: Apache-2.0
"""A setting of the C library for large blocks of memory."""
import ctypes

# malloc.h of glibc.
_M_MMAP_THRESHOLD = -3
_LARGE_BYTES = 128 * 1024


def return_large_blocks():
    """Make malloc return blocks larger than 128 KiB to the system when they are freed.

    The numpy columns of a search are such blocks. By default glibc raises this threshold to the
    largest freed block, up to 32 MiB (mallopt(3), M_MMAP_THRESHOLD). Smaller blocks stay with the
    thread that had them, and a manager has many threads.

    :returns: False if the C library has no such threshold.
    """
    library = ctypes.CDLL(None)
    return hasattr(library, 'mallopt') and bool(library.mallopt(_M_MMAP_THRESHOLD, _LARGE_BYTES))
