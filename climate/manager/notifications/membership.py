# SPDX-License-Identifier: Apache-2.0
"""The membership of the users of subscriptions in their projects, according to Keystone.

A user is no member if the user, the project or a domain of them is disabled.

An answer is kept for a while, so that not every notification costs a call. Only a clear "no" of
Keystone counts: while it does not answer, or cannot know, notifications are sent as before. A user
who left knew the leases of the project anyway, while all others would miss theirs.
"""
import datetime
import threading

from oslo_log import log

from climate import errors

LOG = log.getLogger(__name__)

# The pause between two calls while Keystone does not answer.
_SILENCE = datetime.timedelta(seconds=60)
# With more answers than this, expired ones are forgotten.
_MANY = 10_000


class Membership:
    """Asks Keystone about users and projects, and keeps its answers for a while."""

    def __init__(self, core):
        self._core = core
        self._lock = threading.Lock()
        # {(user id, project id): the end of a positive answer}; a "no" is not kept.
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
