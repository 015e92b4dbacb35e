# SPDX-License-Identifier: Apache-2.0
"""The time limit of one request about a series, so that it does not occupy a manager for long."""
from climate import errors


class TimeLimit:
    """Measures the time of a request about a series against [series] request_seconds."""

    def __init__(self, core):
        self._monotonic = core.monotonic
        self._seconds = core.conf.series.request_seconds
        self._until = core.monotonic() + self._seconds

    def is_over(self):
        """Return whether the request has taken all its time."""
        return self._monotonic() >= self._until

    def within(self, occurrences):
        """Yield Occurrences for a preview while there is time.

        :raises BadField: the time is over before the last occurrence.
        """
        for count, occurrence in enumerate(occurrences):
            if self.is_over():
                raise errors.BadField(field='repeat', reason=(
                    f'only {count} of {len(occurrences)} occurrences could be checked within '
                    f'{self._seconds} seconds: use a rule with fewer occurrences, or try again '
                    'when Climate is less busy.'))
            yield occurrence
