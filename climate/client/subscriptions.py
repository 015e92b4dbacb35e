# SPDX-License-Identifier: Apache-2.0
"""Subscriptions to notifications: create, list, get, update, delete, test and log."""
from collections.abc import Iterator
import typing

from climate.client import http
from climate.client import name_lookup


class Subscriptions(http.Noun):
    """The subscriptions of the caller, and those for the caller's project."""

    def create(self, transport: str, **fields: typing.Any) -> http.Record:
        """Create a subscription.

        :param transport: mail, webhook or calendar.
        :param fields: address, events, before_end, scope, name.
        :returns: the subscription; with ``secret`` or ``calendar_url``, which is shown only now.
        """
        return self._http.record(self._http.call(
            'POST', '/subscriptions', body={'transport': transport, **fields}), 'subscription')

    def list(self, all_projects: bool = False) -> Iterator[http.Record]:
        """List subscriptions, the oldest first."""
        return self._http.pages('/subscriptions', 'subscriptions',
                                {'all_projects': 'true'} if all_projects else None)

    def full_id(self, text: str) -> str:
        """Return the id of the subscription whose id begins with a text, or else the text."""
        return name_lookup.full_id('subscription', text, self.list)

    def get(self, subscription_id: str) -> http.Record:
        """Get a subscription."""
        return self._http.record(self._http.call('GET', _path(subscription_id)), 'subscription')

    def update(self, subscription_id: str, **fields: typing.Any) -> http.Record:
        """Change a subscription.

        :param fields: address, events, before_end, name, enabled, renew_secret.
        """
        return self._http.record(self._http.call(
            'PUT', _path(subscription_id), body=fields), 'subscription')

    def delete(self, subscription_id: str) -> None:
        """Delete a subscription with its log."""
        self._http.call('DELETE', _path(subscription_id))

    def test(self, subscription_id: str) -> http.Record:
        """Send a test; the log of the subscription has the result a little later."""
        return self._http.record(self._http.call(
            'POST', f'{_path(subscription_id)}/test'), 'subscription')

    def log(self, subscription_id: str) -> Iterator[http.Record]:
        """List what was sent, the newest first."""
        return self._http.pages(f'{_path(subscription_id)}/log', 'log')


def _path(subscription_id: str) -> str:
    return f'/subscriptions/{http.quoted(subscription_id)}'
