# SPDX-License-Identifier: Apache-2.0
"""The login of a manager: it is not ready before the services of the cloud accept it."""
from oslo_log import log

from climate import errors
from climate.cloud import call_guard

LOG = log.getLogger(__name__)


class Login:
    """The answer of the cloud to this manager at the last check: does it accept its login?

    Each service must accept it once. Afterwards only Keystone is asked.

    :param core: the Core of the manager.
    :param owner: the name of the manager, for the log.
    :param is_connected: returns whether the manager receives calls from the bus.
    """

    def __init__(self, core, owner, is_connected=lambda: True):
        self._core = core
        self._owner = owner
        self._is_connected = is_connected
        self._looked = False
        self._accepted = False
        # The CloudError of the last look; None: the manager was accepted.
        self._error = None

    @property
    def may_act(self):
        """Return whether events may be carried out.

        Each of them would fail with a service that refuses, and its lease with it. If a service
        does not answer, they are tried again as in every outage.
        """
        return self._looked and not self._is_refused

    @property
    def not_ready(self):
        """Return why this manager is not ready, for operators; None: it is."""
        if not self._looked:
            return errors.ManagerNotReady().message
        return self._error and self._error.message

    def look(self):
        """Check the access to the cloud; log a change, and wake the event loop."""
        error = None
        try:
            self._check()
            if not self._is_connected():
                raise errors.CloudUnreachable(service='The message bus', reason='no connection')
        except errors.CloudError as found:
            error = found
        changed = not self._looked or _kind(error) != _kind(self._error)
        self._looked, self._error = True, error
        if changed:
            self._tell()
            self._core.notify()

    def check(self):
        """Raise the error of the last look if a service refused this manager.

        :raises CloudError: this manager cannot work until its configuration is mended.
        :raises ManagerNotReady: there was no look yet.
        """
        if self._is_refused:
            raise self._error
        if not self._looked:
            raise errors.ManagerNotReady()

    def _check(self):
        if self._accepted:
            # Asks Keystone only if the token expires soon.
            self._core.cloud.log_in()
            return
        # Events wait for the first look, so a service that hangs must not hold it up for long.
        with call_guard.answered_within(self._core.conf.manager.cloud_answer_seconds):
            self._core.cloud.check()
        self._accepted = True

    @property
    def _is_refused(self):
        return (self._error is not None
                and not isinstance(self._error, errors.CloudUnreachable))

    def _tell(self):
        if self._error is None:
            LOG.info('Manager %s: ready', self._owner)
        elif self._is_refused:
            LOG.error('Manager %s: not ready, and carries out no event: %s', self._owner,
                      self._error.message)
        else:
            LOG.warning('Manager %s: not ready; it works as in every outage until all services '
                        'answer: %s', self._owner, self._error.message)


def _kind(error):
    """Return what two errors of the same problem have in common."""
    return type(error), error and error.kwargs['service']
