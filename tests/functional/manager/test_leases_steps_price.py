# SPDX-License-Identifier: Apache-2.0
"""The price of a lease that goes on in steps."""
import pytest
from support import billing_cases as cases
from support import builders

NOON, at = builders.NOON, builders.at
HOUR = 3600


@pytest.fixture
def enrolled(manager):
    manager.enrol(1)
    cases.book(manager)
    return manager


def test_steps_cost_no_surcharge_for_short_notice_but_a_later_end_does(enrolled):
    lease = enrolled.active(end=at(2), while_free_seconds=HOUR)
    enrolled.run_until(at(4.5))
    assert enrolled.lease(lease).end == at(6)
    enrolled.change(lease, end=at(9), while_free_seconds=0)
    enrolled.run_until(at(10))
    cases.bill(enrolled)
    # Climate added the hours from 14:00 to 18:00 in steps, and the owner those after them.
    assert cases.shown(cases.lines(enrolled, lease_id=lease.id)) == [
        ('2030-05', '2030-05', 'lease_fee', None, '2.00'),
        ('2030-05', '2030-05', 'resource_hours', '9.000000', '4.50'),
        ('2030-05', '2030-05', 'short_notice', '5.000000', '0.50')]
