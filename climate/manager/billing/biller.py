# SPDX-License-Identifier: Apache-2.0
"""The statements of projects: a periodic task writes their lines and closes months.

A pass computes the charges of each lease, compares them with its lines, and adds the missing lines.
Several managers may do this at the same time. The lines of a lease are numbered, so two managers
cannot write the same line. If a lease cannot be billed, the others are billed nevertheless. The
lease is tried again after a pause, which doubles with each failure.
"""
import datetime

from oslo_log import log

from climate import errors
from climate.db import bills
from climate.db import engine
from climate.db import journal
from climate.db import price_facts
from climate.db import statement_lines
from climate.domain import lease_pricing
from climate.domain import ledger
from climate.domain import prices
from climate.domain import retry_pauses
from climate.domain import texts
from climate.manager import core as cores
from climate.manager.billing import books

LOG = log.getLogger(__name__)

# The number of leases that one query returns.
_BATCH = 500
# The longest pause before a failed lease is tried again.
_LONGEST_PAUSE_SECONDS = 6 * 3600


def find_statements(core, query):
    """Return the Statements that a StatementQuery selects, by month and project."""
    with core.database.reader() as connection:
        return statement_lines.find(connection, query)


def find_lines(core, query):
    """Return the StatementLines that a StatementQuery selects, by month, lease and number."""
    with core.database.reader() as connection:
        versions = {book.version: book for book in books.read_all(connection)}
        return statement_lines.lines(connection, query, versions)


class Biller:
    """Bills leases that have ended, and the past months of running ones."""

    def __init__(self, core):
        self._core = core

    def bill(self, now):
        """Write the lines that are due and close past months; return the number of lines."""
        with self._core.database.reader() as connection:
            versions = books.read_all(connection)
            if not versions or versions[0].valid_from > now:
                return 0
            begin = bills.settled_until(connection)
        written, seen = 0, set()
        while True:
            ids = self._unbilled(begin, now)
            # If a lease appears again, another manager is billing it.
            new = [lease_id for lease_id in ids if lease_id not in seen]
            if not new:
                break
            for lease_id in new:
                with cores.isolated('Lease %s, to be billed', lease_id):
                    written += self._bill(lease_id, versions, now)
            seen.update(new)
        if not ids:
            self._close_months(versions, now)
        return written

    def _unbilled(self, begin, now):
        month = ledger.begin_of(ledger.month_of(now))
        with self._core.database.reader() as connection:
            return [*bills.unbilled(connection, begin, now, month, _BATCH),
                    *bills.cancelled(connection, begin, now, _BATCH),
                    *bills.failed_due(connection, now, _BATCH)]

    def _bill(self, lease_id, versions, now):
        try:
            return self._write(lease_id, versions, now)
        except engine.Duplicate:
            LOG.debug('Lease %s: another manager bills it', lease_id)
        except errors.LostRace:
            LOG.warning('Lease %s is not billed in this pass, because other transactions write the '
                        'same rows; the next pass tries it again', lease_id)
        except errors.DatabaseUnreachable:
            # No lease can be billed now.
            raise
        except ledger.TooLarge as error:
            LOG.error('Lease %s cannot be billed; an operator must act: %s', lease_id, error)
            self._fail(lease_id, str(error), now)
        except Exception as error:  # Outer loop: one lease must not stop the others.
            LOG.exception('Lease %s cannot be billed; an operator must act', lease_id)
            self._fail(lease_id, f'unexpected: {type(error).__name__}: {error}', now)
        return 0

    @cores.again_after_a_race
    def _fail(self, lease_id, reason, now):
        """Record that a lease could not be billed, and when it is tried again."""
        try:
            with self._core.database.writer() as connection:
                number = bills.failed_attempts(connection, lease_id) + 1
                pause = retry_pauses.doubled(self._core.conf.billing.interval_seconds,
                                             _LONGEST_PAUSE_SECONDS, number)
                bills.write_failure(connection, lease_id, number, now,
                                    now + datetime.timedelta(seconds=pause))
                journal.note_if_new(
                    connection, lease_id, now, 'climate', 'billing',
                    texts.Text('The lease cannot be billed yet; your operator can see why.',
                               f'The lease cannot be billed: {reason}'))
        except engine.Duplicate:
            LOG.debug('Lease %s: another manager could not bill it either', lease_id)

    @cores.again_after_a_race
    def _write(self, lease_id, versions, now):
        """Write the missing lines of a lease in one transaction; return their number."""
        names = frozenset(name for book in versions for name in book.property_names)
        with self._core.database.reader() as connection:
            # Read the lines first. If another manager adds lines after this, the numbers of the new
            # lines are taken, and this transaction fails.
            posted = statement_lines.posted(connection, lease_id)
            before = bills.get(connection, lease_id)
            if before is not None and before.billed_until > now:
                # Another manager has billed it for a later moment.
                return 0
            billed = price_facts.read(connection, lease_id, names,
                                      before.properties if before is not None else {})
            has_failed = bills.failed_attempts(connection, lease_id) > 0
        if billed is None:
            if has_failed:
                with self._core.database.writer() as connection:
                    bills.forget_failures(connection, lease_id)
            return 0
        due = ledger.missing_lines(ledger.charges_by_month(billed.subject, versions, now), posted)
        present = ledger.month_of(now)
        months = {present, *(line.for_month for line in due)}
        if due:
            statement_lines.open_months(self._core.database, months)
        currency = versions[0].currency
        amounts = lease_pricing.amounts(
            [line.charge for line in due], prices.DECIMALS[currency],
            sum(line.charge.atoms for line in posted))
        ledger.refuse_too_large(amounts, currency)
        with self._core.database.writer() as connection:
            if due:
                is_open = statement_lines.lock_months(connection, months)
                if present not in is_open:
                    # Another manager has closed this month since `now`.
                    raise errors.LostRace()
                lines = [(line.for_month if line.for_month in is_open else present, line, minor)
                         for line, minor in zip(due, amounts, strict=True)]
                statement_lines.add(connection, lease_id, billed.project_id, len(posted) + 1,
                                    currency, lines, now)
            bills.write(connection, bills.Bill(lease_id, now, billed.generation, billed.properties),
                        is_new=before is None)
            if has_failed:
                bills.forget_failures(connection, lease_id)
        if due:
            LOG.info('Lease %s of project %s: %s statement lines added, %s in total', lease_id,
                     billed.project_id, len(due), prices.amount_text(sum(amounts), currency))
        return len(due)

    def _close_months(self, versions, now):
        """Close the months that ended at least [billing] close_days ago.

        All due lines must be written before.
        """
        latest_end = now - datetime.timedelta(days=self._core.conf.billing.close_days)
        month = ledger.month_of(latest_end)
        # A month without lines is closed too, so that ``bills.settled_until`` advances.
        previous = ledger.month_of(ledger.begin_of(month) - datetime.timedelta(days=1))
        if ledger.begin_of(month) > versions[0].valid_from:
            statement_lines.open_months(self._core.database, {previous})
        with self._core.database.reader() as connection:
            months = statement_lines.open_before(connection, month)
        for past_month in months:
            with cores.isolated('Statements of %s', past_month):
                with self._core.database.writer() as connection:
                    is_closed = statement_lines.close(connection, past_month, now)
                if is_closed:
                    LOG.info('Statements of %s: closed', past_month)
