# SPDX-License-Identifier: Apache-2.0
"""Whether the user of a subscription still has a role in its project, as Keystone says.

A user has none if the user, the project or a domain of them is disabled.

An answer is kept for a while, so that not each notification costs a call. Only a clear "no" of
Keystone counts: while it does not answer, or cannot know, notifications are sent as before. A user
who left knew the leases of the project until then; all others would miss what happens to theirs.
"""
import datetime
import threading

from oslo_log import log

from climate import errors

LOG = log.getLogger(__name__)

# While Keystone does not answer, it is asked again after so long.
_SILENCE = datetime.timedelta(seconds=60)
# With more answers than this, those that are too old are forgotten.
_MANY = 10_000


class Membership:
    """Asks Keystone about users and projects, and keeps its answers for a while."""

    def __init__(self, core):
        self._core = core
        self._lock = threading.Lock()
        # {(user id, project id): until when the answer counts}; a "no" is not kept.
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
            LOG.warning('Whether users of subscriptions still have a role in their projects is '
                        'not known, notifications are sent all the same: %s', error.message)
            return False
        if has_role is False:
            return True
        with self._lock:
            if len(self._good_until) >= _MANY:
                self._good_until = {each: until for each, until in self._good_until.items()
                                    if now < until}
            self._good_until[key] = now + datetime.timedelta(seconds=seconds)
        return False
