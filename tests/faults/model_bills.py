# SPDX-License-Identifier: Apache-2.0
"""The steps of price books, statements and usage, and the truths about them."""
import datetime
import uuid

from hypothesis import stateful
from hypothesis import strategies as st
import model_base as base
import model_hosts
import model_world
from support import billing_truths
from support import builders

from climate import errors
from climate.domain import usage_figures
from climate.manager.billing import biller
from climate.manager.usage import days

_BOOKS = 4
_MONTH = datetime.timedelta(days=40)
_SOON = datetime.timedelta(hours=4)
_RATES = st.sampled_from(['0', '0.333333', '1', '7.01'])
#: A later book may name a property that no earlier one did; not all hosts have the first one.
CONDITIONS = (
    {'resource_type': 'physical:host'}, {'properties': {'gpu': 'A100'}},
    {'properties': {'hypervisor_type': 'QEMU'}}, {'pool': 'host'},
    {'properties': {'gpu': 'A100', 'hypervisor_type': 'QEMU'}, 'pool': 'host'})
_PEAKS = (None, None, {'timezone': 'Europe/Berlin', 'windows': [
    {'days': ['wed', 'fri'], 'from': '00:00', 'to': '14:15', 'percent': '50'}]}, {
    'timezone': 'UTC', 'windows': [
        {'days': ['wed', 'sat'], 'from': '00:10', 'to': '24:00', 'percent': '12.5'}]})
_PERCENT = st.sampled_from(['0', '12.5', '33.33', '100'])


class Bills(model_hosts.Hosts):
    """The steps of price books, statements and usage.

    :ivar lines: the lines of statements as they were after the last step.
    :ivar closed: the months that were closed then.
    """

    def __init__(self, *parts):
        super().__init__(*parts)
        self.lines, self.closed, self.books = {}, set(), 0

    @stateful.precondition(lambda self: self.books < _BOOKS)
    @base.rule(side=base.SIDE, rate=_RATES, other=_RATES, percent=_PERCENT,
               later=st.sampled_from([0, 0, 10, 45]), by=st.sampled_from(CONDITIONS),
               peaks=st.sampled_from(_PEAKS))
    def an_administrator_adds_a_price_book(self, side, rate, other, percent, later, by, peaks):
        document = {
            'currency': 'EUR', 'lease_fee': other,
            'rates': [{'rate': other}, {'rate': rate, **by}],
            'short_notice': {'hours': '1', 'percent': percent},
            'priority': {'percent': percent}, 'best_effort': {'percent': '50'},
            'early_end': {'credit_percent': str(100 - float(percent))},
            'late_cancel': {'hours': '2', 'percent': percent},
            'idle': {'percent': percent}, **({} if peaks is None else {'peak_hours': peaks})}
        self.add_book(side, later, document)

    def add_book(self, side, later, document):
        """Add a version of the price book that is valid from some minutes later on."""
        made = self.ask(side, lambda client: client.create_price_book(
            builders.an_admin(), self.now + builders.minutes(later), document))
        self.books += made is not None

    @stateful.precondition(lambda self: self.now < base.JUNE <= self.now + _SOON)
    @base.rule(side=base.SIDE, rate=_RATES, by=st.sampled_from(CONDITIONS))
    def a_month_is_billed_before_the_next_price_book(self, side, rate, by):
        """A lease that runs on is billed by one version, and goes on with the next one."""
        if not self.books:
            self.add_book(side, 0, {'currency': 'EUR', 'rates': [{'rate': '0.5'}]})
        self.entrust(side, str(uuid.uuid4()), builders.a_lease(
            end=base.JUNE + builders.minutes(30)))
        self.act(side, lambda manager: manager.run())
        self.world.clock.now = base.JUNE
        self.act(side, lambda manager: manager.run())
        self.bill(side)
        self.add_book(side, 0, {'currency': 'EUR', 'rates': [
            {'rate': '0.25'}, {'rate': rate, **by}]})

    @base.rule(side=base.SIDE)
    def a_manager_bills(self, side):
        self.bill(side)

    def bill(self, side):
        self._errand(side, self._bill)

    # A refusal that is deleted because there are too many is counted in closed days only.
    @stateful.precondition(lambda self: self.most_refusals == model_world.MANY)
    @base.rule(side=base.SIDE)
    def a_manager_closes_days(self, side):
        def close(manager):
            self.tally['days closed'] += days.close(manager.database, self.now)
        self._errand(side, close)

    def _bill(self, manager):
        self.tally['lines of statements'] += biller.Biller(manager.core).bill(self.now)

    def _errand(self, side, errand):
        """Run an errand as the daemon does: if it fails, it is tried again later."""
        def run(manager):
            try:
                errand(manager)
            except errors.ClimateError as error:
                assert type(error) is not errors.ClimateError
                assert self.mood != base.CALM or isinstance(error, errors.LostRace), error.message
        self.act(side, run)

    @stateful.invariant()
    def no_line_is_changed_or_added_to_a_closed_month(self):
        lines = billing_truths.statement_lines(self.world.database)
        billing_truths.nothing_was_taken_back(self.lines, lines, self.closed)
        closed = billing_truths.closed_months(self.world.database)
        assert self.closed <= closed
        self.tally['months closed'] += len(closed - self.closed)
        self.lines, self.closed = lines, closed

    def judge_bills(self):
        """Bill and close all at the end: statements and usage are those of the history alone."""
        clock, manager = self.world.clock, self.world.managers[0]
        for _ in range(2):
            while biller.Biller(manager.core).bill(clock()):
                continue
            clock.advance(_MONTH)
        days.close(self.world.database, clock(), most=None)
        self.no_line_is_changed_or_added_to_a_closed_month()
        billing_truths.statements_are_right(self.world.database)
        first = usage_figures.moment(usage_figures.day_of(usage_figures.second(builders.NOON)))
        billing_truths.usage_is_right(manager.core, first, first + 3 * _MONTH)
        self.tally['leases billed'] += len({lease_id for lease_id, _ in self.lines})
