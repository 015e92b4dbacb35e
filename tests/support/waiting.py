# SPDX-License-Identifier: Apache-2.0
"""Wait for another process, or for a thread that nothing reports from."""
import time

# Also a machine that does much else beside the tests meets this deadline.
SECONDS = 60
_PAUSE_SECONDS = 0.02


def until(find, otherwise='The condition never became true.', seconds=SECONDS):
    """Return the first true result of a function.

    Prefer an event, a queue or a condition wherever the other side can set one.

    :param otherwise: the message if the deadline passes, or a function that returns the message.
    :raises AssertionError: the deadline passed.
    """
    deadline = time.monotonic() + seconds
    while not (found := find()):
        if time.monotonic() > deadline:
            raise AssertionError(otherwise() if callable(otherwise) else otherwise)
        time.sleep(_PAUSE_SECONDS)
    return found
