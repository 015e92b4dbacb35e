# SPDX-License-Identifier: Apache-2.0
"""The start of each program: print errors on one line, and set up the memory."""
import contextlib
import ctypes
import gc

from oslo_config import cfg

from climate import errors

# malloc.h of glibc.
_M_MMAP_THRESHOLD = -3
_LARGE_BYTES = 128 * 1024
_NEW_OBJECTS = 20_000


@contextlib.contextmanager
def refusing(program):
    """End the program with one line and the exit status 1 if its configuration is wrong.

    :param program: the name of the program, which begins the line.
    """
    try:
        yield
    except (cfg.Error, errors.ClimateError, errors.ConfigurationError) as error:
        raise SystemExit(f'{program}: {error}') from error


def return_large_blocks():
    """Make malloc return blocks larger than 128 KiB to the system when they are freed.

    The numpy columns of a search are such blocks. By default glibc raises this threshold to the
    size of the largest freed block, up to 32 MiB (mallopt(3), M_MMAP_THRESHOLD). Smaller freed
    blocks stay with their thread, and a manager has many threads.

    :returns: False if the C library has no such threshold.
    """
    library = ctypes.CDLL(None)
    return hasattr(library, 'mallopt') and bool(library.mallopt(_M_MMAP_THRESHOLD, _LARGE_BYTES))


def collect_garbage_less_often():
    """Make Python look for cycles of garbage after 20,000 new objects instead of 700.

    A large answer consists of about 100,000 objects, and all of them are in use. The search for
    garbage among them takes a third of the time of such an answer.
    """
    gc.set_threshold(_NEW_OBJECTS, *gc.get_threshold()[1:])
