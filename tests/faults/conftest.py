# SPDX-License-Identifier: Apache-2.0
"""Figures of the fault tests, printed at the end of the run, also of those that went well."""
import pytest

_NAME = 'figures'


@pytest.fixture
def figures(record_property):
    """callable(text): have it printed at the end, whichever process the test runs in."""
    return lambda text: record_property(_NAME, text)


def pytest_terminal_summary(terminalreporter):
    """Print what the tests handed to `figures`."""
    for report in terminalreporter.getreports('passed') + terminalreporter.getreports('failed'):
        for name, text in report.user_properties:
            if name == _NAME:
                terminalreporter.section(report.nodeid.rsplit('::', 1)[-1])
                terminalreporter.line(text)
