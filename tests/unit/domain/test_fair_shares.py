# SPDX-License-Identifier: Apache-2.0
"""Shares of projects: the decay of past use, and the parts of the whole."""
import pytest

from climate.domain import fair_shares
from climate.domain import usage_figures

DAY = usage_figures.DAY_SECONDS
TODAY = 100 * DAY


def test_use_counts_fully_until_the_end_of_its_day_and_half_after_each_half_life():
    uses = [('today', TODAY, 1000), ('yesterday', TODAY - DAY, 1000),
            ('a week ago', TODAY - 8 * DAY, 1000), ('two weeks ago', TODAY - 15 * DAY, 1000)]
    assert fair_shares.decayed(uses, TODAY, 7) == pytest.approx({
        'today': 1000, 'yesterday': 1000, 'a week ago': 500, 'two weeks ago': 250})


def test_the_days_of_a_project_are_added_up():
    uses = [('demo', TODAY - 8 * DAY, 1000), ('demo', TODAY, 10)]
    assert fair_shares.decayed(uses, TODAY, 7) == pytest.approx({'demo': 510})


def test_decay_in_two_steps_is_decay_in_one_step():
    uses = [('demo', TODAY - 9 * DAY, 1000)]
    [at_once] = fair_shares.decayed(uses, TODAY + 5000, 3).values()
    [before] = fair_shares.decayed(uses, TODAY, 3).values()
    assert at_once == pytest.approx(before * fair_shares.weight(5000, 3))


def test_shares_are_parts_of_ten_thousand_and_nearly_no_use_is_no_share():
    assert fair_shares.shares({'most': 900, 'some': 100, 'none': 0, 'little': 0.01}) == {
        'most': 9000, 'some': 1000}
    assert fair_shares.shares({}) == fair_shares.shares({'none': 0}) == {}


@pytest.mark.parametrize(('share', 'text'), [
    (0, '0 %'), (1250, '12.5 %'), (1234, '12.3 %'), (10_000, '100 %'), (7, '0.07 %')])
def test_a_share_is_shown_in_percent(share, text):
    assert fair_shares.as_percent(share) == text
