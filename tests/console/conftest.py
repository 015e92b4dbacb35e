# SPDX-License-Identifier: Apache-2.0
"""A standalone Climate as a process, and a real Chromium that shows its console."""
import pytest
from support import browser


@pytest.fixture(scope='session')
def standalone(tmp_path_factory):
    """A Standalone that runs for all tests."""
    with browser.running(tmp_path_factory.mktemp('standalone')) as found:
        yield found


@pytest.fixture(scope='session')
def chromium():
    """A Chromium without a window."""
    with browser.chromium() as found:
        yield found


@pytest.fixture
def page(standalone, chromium):
    """A Page of the console, logged in, 1280 pixels wide, with no lease there."""
    standalone.end_all()
    found = browser.Page(chromium, standalone)
    chromium.set_window_size(1280, 800)
    # A page that an earlier test left open may complain about a service that its test ended.
    found.leave()
    found.log_in()
    yield found
    assert found.leave() == []
