# SPDX-License-Identifier: Apache-2.0
"""The periodic work that writes the lines of statements and closes months.

A pass compares what each lease should have been charged with its lines, and adds the lines that are
missing. It can be repeated at any time, by any number of managers: a line has a number in its
lease, so two managers cannot write the same one. A lease that cannot be billed stops no other one:
it is left out for a while, each time longer, and then tried again.
"""
import datetime

from oslo_log import log

from climate import errors
from climate.db import bills
from climate.db import engine
from climate.db import failed_bills
from climate.db import journal
from climate.db import statement_lines
from climate.domain import currencies
from climate.domain import ledger
from climate.domain import pauses
from climate.domain import pricing
from climate.domain import texts
from climate.manager import core as cores
from climate.manager.billing import books

LOG = log.getLogger(__name__)

# How many leases are looked for at a time.
_BATCH = 500
# The longest pause before a lease that could not be billed is tried again.
_LONGEST_PAUSE_SECONDS = 6 * 3600


class Biller:
    """Bills leases that have ended, and the past months of those that run on."""

    def __init__(self, core):
        self._core = core

    def bill(self, now):
        """Write the lines that are due at `now` and close past months; return how many lines."""
        with self._core.database.reader() as connection:
            known = books.read_all(connection)
            if not known or known[0].valid_from > now:
                return 0
            begin = bills.settled_until(connection)
        written, seen = 0, set()
        while True:
            ids = self._unbilled(begin, now)
            # A lease that comes again is billed by another manager at this moment.
            new = [each for each in ids if each not in seen]
            if not new:
                break
            for lease_id in new:
                with cores.isolated('Lease %s, to be billed', lease_id):
                    written += self._bill(lease_id, known, now)
            seen.update(new)
        if not ids:
            self._close(known, now)
        return written

    def _unbilled(self, begin, now):
        month = ledger.begin_of(ledger.month_of(now))
        with self._core.database.reader() as connection:
            return [*bills.unbilled(connection, begin, now, month, _BATCH),
                    *failed_bills.due(connection, now, _BATCH)]

    def _bill(self, lease_id, known, now):
        try:
            return self._write(lease_id, known, now)
        except engine.Duplicate:
            LOG.debug('Lease %s: another manager bills it', lease_id)
        except errors.LostRace:
            LOG.warning('Lease %s is not billed in this pass, because others write the same rows; '
                        'the next pass tries it again', lease_id)
        except errors.DatabaseUnreachable:
            # No lease can be billed.
            raise
        except ledger.TooLarge as error:
            LOG.error('Lease %s cannot be billed; an operator must look: %s', lease_id, error)
            self._fail(lease_id, str(error), now)
        except Exception as error:  # The door of one lease: the others must be billed.
            LOG.exception('Lease %s cannot be billed; an operator must look', lease_id)
            self._fail(lease_id, f'unexpected: {type(error).__name__}: {error}', now)
        return 0

    @cores.again_after_a_race
    def _fail(self, lease_id, reason, now):
        """Write that a lease could not be billed, and when it is tried again."""
        try:
            with self._core.database.writer() as connection:
                number = failed_bills.attempts(connection, lease_id) + 1
                pause = pauses.doubled(self._core.conf.billing.interval_seconds,
                                       _LONGEST_PAUSE_SECONDS, number)
                failed_bills.write(connection, lease_id, number, now,
                                   now + datetime.timedelta(seconds=pause))
                journal.note_if_new(
                    connection, lease_id, now, 'climate', 'billing',
                    texts.Text('The lease cannot be billed yet; your operator can see why.',
                               f'The lease cannot be billed: {reason}'))
        except engine.Duplicate:
            LOG.debug('Lease %s: another manager could not bill it either', lease_id)

    @cores.again_after_a_race
    def _write(self, lease_id, known, now):
        """Write the lines of a lease that are missing, in one transaction; return how many."""
        names = frozenset(name for each in known for name in each.property_names)
        with self._core.database.reader() as connection:
            # First: if another manager writes lines after this, the numbers of these are taken.
            posted = statement_lines.posted(connection, lease_id)
            before = bills.get(connection, lease_id)
            if before is not None and before.billed_until > now:
                # Another manager has billed it later than at `now`, and knows more.
                return 0
            found = bills.read(connection, lease_id, names,
                               before.properties if before is not None else {})
            has_failed = failed_bills.attempts(connection, lease_id) > 0
        if found is None:
            if has_failed:
                with self._core.database.writer() as connection:
                    failed_bills.delete(connection, lease_id)
            return 0
        due = ledger.due(ledger.targets(found.subject, known, now), posted)
        present = ledger.month_of(now)
        months = {present, *(each.for_month for each in due)}
        if due:
            statement_lines.open_months(self._core.database, months)
        currency = known[0].currency
        amounts = pricing.amounts(
            [each.charge for each in due], currencies.DECIMALS[currency],
            sum(each.charge.atoms for each in posted))
        ledger.refuse_too_large(amounts, currency)
        with self._core.database.writer() as connection:
            if due:
                is_open = statement_lines.lock_months(connection, months)
                if present not in is_open:
                    # Since `now` another manager has closed it; the next pass is in the next one.
                    raise errors.LostRace()
                lines = [(each.for_month if each.for_month in is_open else present, each, minor)
                         for each, minor in zip(due, amounts, strict=True)]
                statement_lines.add(connection, lease_id, found.project_id, len(posted) + 1,
                                    currency, lines, now)
            bills.write(connection, bills.Bill(lease_id, now, found.generation, found.properties),
                        is_new=before is None)
            if has_failed:
                failed_bills.delete(connection, lease_id)
        if due:
            LOG.info('Lease %s of project %s: %s lines of statements, %s in all', lease_id,
                     found.project_id, len(due), currencies.amount(sum(amounts), currency))
        return len(due)

    def _close(self, known, now):
        """Close the months that have been over for long enough; all that is due is written."""
        latest = now - datetime.timedelta(days=self._core.conf.billing.close_days)
        month = ledger.month_of(latest)
        # Each month gets its row, so that what is looked for begins with the last one.
        previous = ledger.month_of(ledger.begin_of(month) - datetime.timedelta(days=1))
        if ledger.begin_of(month) > known[0].valid_from:
            statement_lines.open_months(self._core.database, {previous})
        with self._core.database.reader() as connection:
            over = statement_lines.open_before(connection, month)
        for each in over:
            with cores.isolated('Statements of %s', each):
                with self._core.database.writer() as connection:
                    done = statement_lines.close(connection, each, now)
                if done:
                    LOG.info('Statements of %s: closed', each)
