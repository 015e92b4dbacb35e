# SPDX-License-Identifier: Apache-2.0
"""The progress display of a wait."""
import io

from unit.client import canned

from climate.client.commands import waits


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_a_terminal_has_one_line_that_is_rewritten():
    stream = Terminal()
    with waits.WaitProgress(stream) as report:
        report(canned.a_lease(status='to_be_started'), 0)
        report(canned.a_lease(status='active'), 2)
    assert stream.getvalue() == ('\rLease demo: to_be_started, 0 s'
                                 '\rLease demo: active, 2 s       \n')


def test_elsewhere_each_change_is_a_line():
    stream = io.StringIO()
    with waits.WaitProgress(stream) as report:
        for status in ('starting', 'starting', 'active'):
            report(canned.a_lease(status=status, status_reason='soon'), 1)
    assert stream.getvalue() == 'Lease demo: starting (soon)\nLease demo: active (soon)\n'


def test_quiet_says_nothing():
    stream = io.StringIO()
    with waits.WaitProgress(stream, quiet=True) as report:
        report(canned.a_lease(), 1)
    assert stream.getvalue() == ''
