# SPDX-License-Identifier: Apache-2.0
"""Many calls of the cloud at the same time."""
from concurrent import futures
import contextvars


def each(pool, function, items):
    """What `function` returns for each item, in the order of `items`.

    All calls are finished when this returns or raises; the first error, in the order of `items`,
    is raised. A single item does not leave the calling thread.

    :param pool: a concurrent.futures.Executor; `function` must not wait for it.
    """
    items = list(items)
    if len(items) < 2:
        return [function(item) for item in items]
    running = [pool.submit(contextvars.copy_context().run, function, item) for item in items]
    futures.wait(running)
    return [future.result() for future in running]
