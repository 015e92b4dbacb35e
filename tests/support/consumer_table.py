# SPDX-License-Identifier: Apache-2.0
"""A plugin of pytest that prints a table of the programs of others: version, result, what ran.

Each test with the property ``consumer``, (name, version), has a row.
"""
import pytest

_rows = pytest.StashKey()


def pytest_configure(config):
    config.stash[_rows] = {}


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    """Note the result of a test; a failure before or after the test counts as well."""
    report = yield
    for consumer in [value for name, value in report.user_properties if name == 'consumer']:
        key = (*consumer, item.name.removeprefix('test_').replace('_', ' '))
        before = item.config.stash[_rows].get(key, 'passed')
        item.config.stash[_rows][key] = report.outcome if before == 'passed' else before
    return report


def pytest_terminal_summary(terminalreporter, config):
    rows = [('program', 'version', 'result', 'what ran')]
    rows += [(name, version, 'passed' if result == 'passed' else result.upper(), what)
             for (name, version, what), result in sorted(config.stash[_rows].items())]
    widths = [max(len(row[column]) for row in rows) for column in range(3)]
    for *cells, what in rows:
        padded = [cell.ljust(width) for cell, width in zip(cells, widths, strict=True)]
        terminalreporter.write_line('  '.join([*padded, what]))
