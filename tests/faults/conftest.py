# SPDX-License-Identifier: Apache-2.0
"""Fixtures for faults: a place to crash in, and figures that are printed at the end of the run."""
import crashes
import pytest

_NAME = 'figures'


@pytest.fixture
def figures(record_property):
    """callable(text): have it printed at the end, whichever process the test runs in."""
    return lambda text: record_property(_NAME, text)


@pytest.fixture
def place(conf, tmp_path):
    """A Place whose servers take a second to disappear."""
    conf.set_override('delete_seconds', 1, group='simulated')
    found = crashes.Place(conf, tmp_path / 'place')
    yield found
    found.close()


def pytest_terminal_summary(terminalreporter):
    """Print what the tests handed to `figures`."""
    for report in terminalreporter.getreports('passed') + terminalreporter.getreports('failed'):
        for name, text in report.user_properties:
            if name == _NAME:
                terminalreporter.section(report.nodeid.rsplit('::', 1)[-1])
                terminalreporter.line(text)
