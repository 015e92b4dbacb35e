# SPDX-License-Identifier: Apache-2.0
"""Entries in the history of a lease that announce what an action will do to servers.

The entries for all reservations of the lease are written together, before the action is carried
out. So a crash loses no entry.
"""
import datetime

from climate.db import journal
from climate.domain import event_kinds

_CLIMATE = 'climate'
# The reason of an action, by the kind of its event.
_REASONS = {
    event_kinds.BEFORE_END: 'The lease ends soon',
    event_kinds.END: 'The lease is over',
    event_kinds.DELETE: 'The lease is deleted',
    event_kinds.UPDATE: 'The lease was changed',
    event_kinds.HEAL: 'The lease was changed',
    event_kinds.PREPARE: 'The lease starts later',
}
# The heading of the history entry of the request that ordered an action, by the kind of its event.
_REQUEST = {event_kinds.DELETE: 'delete', event_kinds.UPDATE: 'update',
            event_kinds.HEAL: 'update', event_kinds.END: 'update'}
# If the last update of a lease was made within this time before the end, it ordered the end.
_AT_ONCE = datetime.timedelta(minutes=1)


class Announcements:
    """The announcements of a Claim's action in the history of its lease."""

    def __init__(self, core, claim):
        self._core = core
        self._claim = claim
        # {heading: [text]} of the entries since the first try of the action; None: not read yet.
        self._written = None
        self._new = {}

    def lacks(self, what, words):
        """Collect the entries that the history lacks; return True if there are any.

        :param what: the heading of the entries.
        :param words: {id of a target: the text about it}; the text contains the id.
        """
        if self._written is None:
            with self._core.database.reader() as connection:
                self._written = journal.since(connection, self._claim.lease.id,
                                              self._claim.event.begun_at)
        written = self._written.get(what, ())
        for key, text in words.items():
            if not any(key in entry for entry in written):
                self._new.setdefault((what, key), text)
        return any((what, key) in self._new for key in words)

    def write(self):
        """Write the collected entries; return True if there were any.

        :raises ClaimLost: another manager has the lease; nothing was written.
        """
        if not self._new:
            return False
        self._claim.ownership.check()
        lease, kind = self._claim.lease, self._claim.event.kind
        by_heading = {}
        for (what, _), text in self._new.items():
            by_heading.setdefault(what, []).append(text)
        with self._core.database.writer() as connection:
            who, now = self._who(connection), self._core.clock()
            for what, texts in by_heading.items():
                journal.note_list(connection, lease.id, now, who, what,
                                  _REASONS.get(kind, 'The lease needs it'), texts)
        self._written, self._new = None, {}
        return True

    def _who(self, connection):
        """Return the user whose request ordered the action, or Climate itself."""
        lease, kind = self._claim.lease, self._claim.event.kind
        request = _REQUEST.get(kind)
        entry = request and journal.last(connection, lease.id, request)
        if not entry or (kind == event_kinds.END and entry.at < lease.end - _AT_ONCE):
            return _CLIMATE
        return entry.who
