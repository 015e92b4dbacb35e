# SPDX-License-Identifier: Apache-2.0
"""The hint of a request to the scheduler; the filter's own tests read whole requests."""
import pytest

from climate.nova import scheduler_hints


@pytest.mark.parametrize('value, named', [
    (None, None), ('r1', ['r1']), (['r1', 'r2'], ['r1', 'r2']), ([], []), (7, ['7'])])
def test_a_hint_is_text_or_a_list(value, named):
    assert scheduler_hints.ids(value) == named
