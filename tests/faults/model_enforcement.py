# SPDX-License-Identifier: Apache-2.0
"""The steps of an enforcement service and of its reports, and the truths about its charges.

In the same runs the project has limits that nobody lowers.
"""
from hypothesis import stateful
from hypothesis import strategies as st
import model_base as base
import model_enrolment
import sqlalchemy as sa
from support import builders
from support import ledger_driver
from support import limit_truths

from climate.db import enforcement_calls
from climate.db import leases
from climate.db import tables
from climate.domain import enforcement
from climate.domain import event_kinds
from climate.domain import lifecycle
from climate.manager.leases import enforcement_reports

LIMITS = ({'name': 'leases', 'measure': 'open_leases', 'most': 5},
          {'name': 'waiting', 'measure': 'waiting_leases', 'most': 2},
          {'name': 'hosts', 'measure': 'resources', 'most': 3})
_ROUNDS = 6


class Enforcement(model_enrolment.Enrolment):
    """The steps of the service, which charges for leases, and of the reports to it."""

    def begin_enforcement(self, charges_when_asked):
        """Choose the dialect of the service, and set the limits of the project."""
        if self.enforced:
            self.world.ledger.charges_when_asked = charges_when_asked
            self.world.managers[0].client.create_limit_book(builders.an_admin(), None, {
                'limits': [{**limit, 'projects': ['demo']} for limit in LIMITS]})

    @stateful.precondition(lambda self: self.enforced)
    @base.rule(side=base.SIDE)
    def a_manager_reports_to_the_service(self, side):
        self._errand(side, lambda manager: enforcement_reports.EnforcementReports(
            manager.core).step(self.now))

    @stateful.precondition(lambda self: self.enforced)
    @base.rule(silent=st.booleans())
    def the_service_is_silent_or_answers(self, silent):
        self.world.ledger.silent = silent

    @stateful.invariant()
    def charges_equal_leases(self):
        # What a manager that stood still did too late is charged, too.
        if not self.enforced or self.mood == base.FROZEN:
            return
        with self.world.database.reader() as connection:
            calls = self._calls(connection)
            known = leases.mentioned(connection, self.recorded.leases.keys())
        charges = self.world.ledger.charges
        assert charges.keys() <= {each.id for each in known} | calls.keys(), 'Nobody has this.'
        for lease in known:
            self._is_charged(lease, calls.get(lease.id, []), charges.get(lease.id))

    def _is_charged(self, lease, calls, charge):
        """Check that a lease is charged as it is, unless a call about it is on its way."""
        if any(each.state != enforcement.REPORTED for each in calls):
            return
        over = lease.ended_at is not None or lease.deleted_at is not None
        if not calls:
            assert over or lease.state == lifecycle.ACQUIRING, f'{lease.id} is not charged.'
            assert not over or charge == self._final_charge(lease, charge), lease.id
            return
        [call] = calls
        assert charge == ledger_driver.charge_of(call.lease), lease.id
        if not over and lease.generation == call.generation:
            assert charge[:2] == (lease.start, lease.end), lease.id

    @staticmethod
    def _final_charge(lease, charge):
        """Return what a lease costs that is over: until its real end, or nothing."""
        deletion = lease.event(event_kinds.DELETE)
        end = enforcement.real_end(lease, deletion and deletion.at)
        return (lease.start, end, charge and charge[2]) if end > lease.start else None

    @staticmethod
    def _calls(connection):
        ids = connection.execute(sa.select(tables.ENFORCEMENT_CALLS.c.lease_id).distinct())
        return {lease_id: enforcement_calls.of_lease(connection, lease_id)
                for lease_id in ids.scalars()}

    @stateful.invariant()
    def no_limit_is_exceeded(self):
        if self.enforced:
            found = limit_truths.excesses(self.world.database, LIMITS, 'demo', self.now)
            assert not found, found

    def judge_charges(self, manager):
        """Report all at the end: each lease was charged until its real end, and nothing else."""
        if not self.enforced:
            return
        reports = enforcement_reports.EnforcementReports(manager.core)
        for _ in range(_ROUNDS):
            self.world.clock.advance(enforcement_reports.AGE + builders.minutes(1))
            reports.step(self.now)
        with self.world.database.reader() as connection:
            calls = self._calls(connection)
        assert not calls, calls
        self.charges_equal_leases()
        self.tally['leases charged'] += len(self.world.ledger.charges)
