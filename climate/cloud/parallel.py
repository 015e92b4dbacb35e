# SPDX-License-Identifier: Apache-2.0
"""Concurrent calls of the cloud."""
from concurrent import futures
import contextvars


def each(pool, function, items):
    """Call `function` for all items at once; return the results in the order of `items`.

    This returns, or raises the first error in the order of `items`, when all calls have finished.
    A single item is handled in the calling thread.

    :param pool: a concurrent.futures.Executor; `function` must not wait for it.
    """
    items = list(items)
    if len(items) < 2:
        return [function(item) for item in items]
    running = [pool.submit(contextvars.copy_context().run, function, item) for item in items]
    futures.wait(running)
    return [future.result() for future in running]
