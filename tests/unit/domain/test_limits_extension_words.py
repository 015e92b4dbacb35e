# SPDX-License-Identifier: Apache-2.0
"""Rules of extensions in words."""
import datetime
import decimal

import pytest

from climate.domain.limits import extension_words
from climate.domain.limits import rules


def days(count):
    return datetime.timedelta(days=count)


@pytest.mark.parametrize('fields, expected', [
    ({'within': days(2), 'most': days(7), 'times': 3, 'total': days(30)},
     'in the last 2d of a lease, by at most 7d, at most 3 times, until at most 30d after its '
     'start'),
    ({'within_percent': decimal.Decimal('12.5'), 'pool': 'host'},
     'in the last 12.5 % of a lease, of hosts'),
    ({'total': days(1), 'total_from': rules.TotalFrom.NOW, 'times': 1,
      'resource_type': 'physical:host'},
     'at most 1 time, until at most 1d after now, of the type physical:host')])
def test_a_rule_of_extensions_has_words(fields, expected):
    assert extension_words.description(rules.Extension(name='x', **fields)) == expected
