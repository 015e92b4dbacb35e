# SPDX-License-Identifier: Apache-2.0
"""A console over a real climate-api that listens on loopback."""
from dogpile import cache

from climate.console import app
from climate.console import login


def a_region():
    """A cache that only this process has."""
    return cache.make_region().configure('dogpile.cache.memory')


def an_identity(url, user='demo', project='demo', roles=('member', 'reader')):
    """The Identity of a user whom a climate-api with noauth knows."""
    token = f'{user}:{project}:{",".join(roles)}'
    return login.Identity(token, url, user, user, project, project, tuple(roles))


class Browser:
    """A browser without scripts: it keeps cookies, follows forms and knows the CSRF token."""

    def __init__(self, conf, *identities, region=None):
        self.key = login.KeyLogin(*identities)
        self.app = app.build(conf, region or a_region(), self.key)
        self.client = self.app.test_client()

    def log_in(self, following='/leases'):
        answer = self.client.get(f'/login?key={self.key.key}&next={following}')
        assert answer.status_code == 302, answer.text
        return answer

    @property
    def csrf_token(self):
        page = self.client.get('/leases').text
        return page.partition('data-csrf-token="')[2].partition('"')[0]

    def send(self, method, path, body=None, **headers):
        """Send a request as the console's scripts do."""
        headers = {'X-CSRF-Token': self.csrf_token,
                   **{name.replace('_', '-'): value for name, value in headers.items()}}
        return self.client.open(path, method=method, json=body, headers={
            name: value for name, value in headers.items() if value is not None})
