# SPDX-License-Identifier: Apache-2.0
"""Notify projects that a lease can be extended from now on.

The row of a lease stores the end for which its project was notified. So each end has at most one
notification, also with several managers and after a crash. If the end or the rules change, the new
opening has its own notification.
"""
from climate.db import extension_openings as stored
from climate.db import leases
from climate.domain import texts
from climate.domain.limits import extensions
from climate.manager import core as cores
from climate.manager.limits import books
from climate.manager.limits import extension_bounds
from climate.manager.notifications import outbox

PAUSE_SECONDS = 60


def report(core, now):
    """Notify the projects of leases whose last part has begun; return the number of leases.

    Several managers may call this at the same time.
    """
    book = books.known(core, now)
    windowed = [rule for rule in (book.extensions if book is not None else ())
                if extensions.has_window(rule)]
    if not windowed:
        return 0
    lengths = [rule.within for rule in windowed]
    # A part in percent may be any time before the end, depending on the duration of the lease.
    until = None if None in lengths else now + max(lengths)
    with core.database.reader() as connection:
        rows = [row for row in stored.unannounced(connection, now, until)
                if any(extensions.opens_at(rule, row) <= now for rule in windowed)]
        candidates = leases.whole(connection, rows) if rows else []
    count = 0
    for lease in candidates:
        with cores.isolated('Lease %s: the notification that it can be extended', lease.id):
            count += _announce(core, lease, now)
    return count


@cores.again_after_a_race
def _announce(core, lease, now):
    """Write the notification of a lease if its rules allow an extension now."""
    rules = extension_bounds.rules_of(core, lease, now)
    bound = extensions.tightest(rules, lease, now)
    if not any(map(extensions.has_window, rules)) or (
            bound is not None and bound.latest <= lease.end):
        return False
    far = '' if bound is None else f', until {bound.latest:%Y-%m-%d %H:%M} UTC at the latest'
    text = texts.same(f'It can be extended from now on{far}, if its resources are free.')
    with core.database.writer() as connection:
        if not stored.announce(connection, lease):
            return False
        outbox.publish(connection, lease.explained(text), now, 'extension_open')
    return True
