# SPDX-License-Identifier: Apache-2.0
"""Fixtures of the console's tests."""
import console_world
import pytest
from support import api_server


@pytest.fixture
def url(conf, manager):
    """The URL of a climate-api."""
    with api_server.climate_api(conf, manager) as port:
        yield f'http://127.0.0.1:{port}/v1'


@pytest.fixture
def browser(conf, url):
    """A Browser of a member of the project demo, not logged in yet."""
    return console_world.Browser(conf, console_world.an_identity(url))
