# SPDX-License-Identifier: Apache-2.0
"""Check in Keystone whether the user of a subscription is still a member of its project.

A user is no member if the user, the project or the domain of either is disabled.

If Keystone does not answer, or cannot decide, all users count as members. Otherwise the real
members would miss their notifications. A former member may get some more, but knew the leases of
the project anyway.
"""
import datetime
import threading

from oslo_log import log

from climate import errors

LOG = log.getLogger(__name__)

# The pause between two calls while Keystone does not answer.
_SILENCE = datetime.timedelta(seconds=60)
# The number of cached answers from which expired answers are deleted.
_MANY = 10_000


class Membership:
    """Asks Keystone for the roles of users, and caches answers, so that it makes few calls."""

    def __init__(self, core):
        self._core = core
        self._lock = threading.Lock()
        # {(user id, project id): when the answer expires}; the answer "no role" is not cached.
        self._good_until = {}
        self._silent_until = None

    def has_left(self, subscription):
        """Return whether the user of a Subscription has no role in its project any more."""
        seconds = self._core.conf.notifications.role_check_seconds
        if not seconds:
            return False
        now, key = self._core.clock(), (subscription.user_id, subscription.project_id)
        with self._lock:
            until = self._good_until.get(key)
            if (until is not None and now < until) or (
                    self._silent_until is not None and now < self._silent_until):
                return False
        try:
            has_role = self._core.cloud.as_service().keystone.has_role(*key)
        except errors.ClimateError as error:
            with self._lock:
                self._silent_until = now + _SILENCE
            LOG.warning('It is unknown whether users of subscriptions still have a role in their '
                        'projects; notifications are sent all the same: %s', error.message)
            return False
        if has_role is False:
            return True
        with self._lock:
            if len(self._good_until) >= _MANY:
                self._good_until = {other: until for other, until in self._good_until.items()
                                    if now < until}
            self._good_until[key] = now + datetime.timedelta(seconds=seconds)
        return False
