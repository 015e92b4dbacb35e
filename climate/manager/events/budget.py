# SPDX-License-Identifier: Apache-2.0
"""The budget of processor time for tries to acquire resources."""
import threading

# The budget that tries may use in advance, so that a few tries never wait.
_CREDIT_SECONDS = 5
# The longest pause after a try. On the eventlet backend, the measured time of a try includes other
# work and may be far too high.
_LONGEST_SECONDS = 60


class Budget:
    """Limits the processor time of tries to acquire resources to a share of the elapsed time.

    :param share: the share of one processor.
    :param monotonic: returns a number of seconds that only grows.
    """

    def __init__(self, share, monotonic):
        self._share = share
        self._monotonic = monotonic
        self._paid_until = monotonic()
        self._lock = threading.Lock()

    def use(self, seconds):
        """Record the processor time that a try has used."""
        with self._lock:
            now = self._monotonic()
            paid_until = max(self._paid_until, now) + seconds / self._share
            self._paid_until = min(paid_until, now + _CREDIT_SECONDS + _LONGEST_SECONDS)

    def rest_seconds(self):
        """Return the seconds until the next try may begin; 0 if the budget is not used up."""
        with self._lock:
            rest = self._paid_until - self._monotonic()
        return max(0, rest - _CREDIT_SECONDS)
