# SPDX-License-Identifier: Apache-2.0
"""Injected faults of the simulated cloud: crashes, failing calls, callbacks at fault points."""
import os
import signal
import threading


class FaultPoints:
    """The fault points: the moments before and after each call of the simulated cloud.

    :ivar on_point: None, or a callable(name, when) that is called at each point; ``when`` is
        'before' or 'after'. The call raises the errors of this callable.
    """

    def __init__(self, crash_at=0, on_point=None):
        self.on_point = on_point
        self._crash_at = crash_at
        self._count = 0
        self._planned = {}
        self._lock = threading.Lock()

    def fail(self, call_name, times, error):
        """Make the next `times` calls of that name raise `error` and do nothing.

        :param call_name: such as 'nova.add_host'.
        """
        with self._lock:
            self._planned[call_name] = [times, error]

    def reach(self, name, when):
        """Pass a fault point, where the process may be killed."""
        with self._lock:
            self._count += 1
            crash = self._count == self._crash_at
        if crash:
            os.kill(os.getpid(), signal.SIGKILL)
        if self.on_point is not None:
            self.on_point(name, when)

    def refuse(self, name):
        """Raise the planned error of this call, if one is left."""
        with self._lock:
            planned = self._planned.get(name)
            if planned is None or planned[0] < 1:
                return
            planned[0] -= 1
        raise planned[1]
