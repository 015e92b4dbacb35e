# SPDX-License-Identifier: Apache-2.0
"""Fixtures of the console's tests."""
import console_world
import pytest


@pytest.fixture
def url(conf, manager):
    """The URL of a climate-api."""
    with console_world.listening_api(conf, manager) as found:
        yield found


@pytest.fixture
def browser(conf, url):
    """A Browser of a member of the project demo, not logged in yet."""
    return console_world.Browser(conf, console_world.an_identity(url))
