# SPDX-License-Identifier: Apache-2.0
"""A process of the stage: started, killed, frozen, and restarted if it ended by itself."""
import os
import pathlib
import signal
import threading
import time

from support import waiting

from tools.cloud import processes
from tools.cloud import settings
from tools.cloud.inside import pidfile

_TRIES = 4


class Program:
    """A process that we started, with all that it has forked.

    :param start: callable() that starts it unless it runs, and returns when it is of use.
    """

    def __init__(self, place, name, start):
        self.name = name
        self._place = place
        self._start = start
        self._wanted = False
        self._lock = threading.Lock()

    def up(self):
        """Start it, also after a crash that keeps it from starting at the first try."""
        with self._lock:
            self._wanted = True
            for left in reversed(range(_TRIES)):
                try:
                    self._start()
                    return
                except settings.CloudError:
                    if not left:
                        raise
                    self._kill()
                    time.sleep(1)

    def tend(self):
        """Start it again where it ended by itself, as the init system of a machine does."""
        if self._lock.acquire(blocking=False):
            try:
                if self._wanted and not self._pid():
                    self._start()
            finally:
                self._lock.release()

    def kill(self):
        """SIGKILL to all of it; nothing of it lives when this returns."""
        with self._lock:
            self._wanted = False
            self._kill()

    def end(self):
        """SIGTERM, and SIGKILL for what lives long after it."""
        with self._lock:
            self._wanted = False
            pids = self._all()
            processes.stop(self._place, self.name)
            _signal(pids, signal.SIGKILL)

    def signal(self, number):
        """Send a signal to the process itself, not to those that it has forked."""
        pid = self._pid()
        _signal({pid: pidfile.began(pid)}, number)

    def has_ended(self):
        """Return whether the process has ended by itself."""
        return self._pid() is None

    def freeze(self):
        """SIGSTOP to all of it."""
        _signal(self._all(), signal.SIGSTOP)

    def thaw(self):
        """SIGCONT to all of it."""
        _signal(self._all(), signal.SIGCONT)

    def resident_mb(self):
        """Megabytes of memory that all of it has."""
        pages = sum(int(pathlib.Path(f'/proc/{pid}/statm').read_text().split()[1])
                    for pid in self._all())
        return pages * os.sysconf('SC_PAGE_SIZE') / 2 ** 20

    def processor_seconds(self):
        """Return the processor time of the process and its children, also those that ended."""
        # utime, stime, cutime, cstime: from the 12th word after the name on, see proc(5).
        ticks = sum(int(word) for pid in self._all() for word in pidfile.stat(pid)[11:15])
        return ticks / os.sysconf('SC_CLK_TCK')

    def _kill(self):
        pids = self._all()
        _signal(pids, signal.SIGKILL)
        waiting.until(lambda: not any(pidfile.began(pid) == began for pid, began in pids.items()),
                      f'{self.name} does not die.')

    def _pid(self):
        return processes.pid_of(self._place, self.name)

    def _all(self):
        """{pid: when it began} of the process, of its session and of all that descend from it."""
        pid = self._pid()
        return {} if pid is None else {
            each: began for each in {*processes.members(pid), *descendants(pid)}
            if (began := pidfile.began(each)) is not None}


def descendants(pid):
    """The pids of a process and of all below it."""
    parents = {int(path.name): pidfile.stat(int(path.name))[1:2]
               for path in pathlib.Path('/proc').glob('[0-9]*')}
    found, new = {pid}, {pid}
    while new:
        new = {child for child, parent in parents.items()
               if parent and int(parent[0]) in new} - found
        found |= new
    return found


def _signal(pids, number):
    for pid, began in pids.items():
        # Never a stranger that got the number of a process which ended meanwhile.
        if pidfile.began(pid) == began:
            try:
                os.kill(pid, number)
            except ProcessLookupError:
                continue
