# SPDX-License-Identifier: Apache-2.0
"""The budget of processor time for tries to acquire resources."""
import threading

# The part of their budget that tries may use in advance. So a few of them never wait.
_CREDIT_SECONDS = 5
# The longest pause after a try. On the eventlet backend the time of a try includes that of other
# work, so one number may be far too high.
_LONGEST_SECONDS = 60


class Budget:
    """The processor time that tries to acquire resources may use: a share of the time that passes.

    :param share: the share of one processor.
    :param monotonic: returns seconds that only rise.
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
        """Return how long no try may begin, because the budget is used up in advance."""
        with self._lock:
            rest = self._paid_until - self._monotonic()
        return max(0, rest - _CREDIT_SECONDS)
