# SPDX-License-Identifier: Apache-2.0
"""Calls that begin at the same moment."""
import concurrent.futures
import threading


def at_once(*works, caught=()):
    """Call functions at the same moment, each on its own thread; return the results in order.

    :param caught: classes of errors; the class of such an error takes the place of a result.
    """
    together = threading.Barrier(len(works))

    def begin(work):
        together.wait(timeout=60)
        try:
            return work()
        except caught as error:
            return type(error)
    with concurrent.futures.ThreadPoolExecutor(len(works)) as threads:
        return list(threads.map(begin, works))
