# SPDX-License-Identifier: Apache-2.0
"""Write that a lease is not extended in steps any more, and notify its owner."""
from oslo_log import log

from climate.db import journal
from climate.db import leases
from climate.domain import texts
from climate.manager.notifications import outbox

LOG = log.getLogger(__name__)

_UNKNOWN = texts.same('the reason is not known.')


def write(connection, lease, reason, now):
    """Write that a lease ends at its present end. The owner may choose steps again.

    :param lease: the Lease as it is in this transaction.
    :param reason: a ``texts.Text`` that says why it cannot be extended; None: not known.
    """
    leases.change(connection, lease, now, while_free_seconds=None)
    text = (reason or _UNKNOWN).within(
        f'It ends at {lease.end:%Y-%m-%d %H:%M} UTC, because it cannot be extended by another '
        'step: ')
    journal.note(connection, lease.id, now, 'climate', 'last step', text)
    outbox.publish(connection, leases.get(connection, lease.id).explained(text), now, 'last_step')
    LOG.info('Lease %s: %s', lease.id, text.operator)
