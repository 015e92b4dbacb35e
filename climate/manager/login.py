# SPDX-License-Identifier: Apache-2.0
"""The login of a manager to the cloud. The manager is ready once the services accept it."""
from oslo_log import log

from climate import errors
from climate.cloud import call_guard

LOG = log.getLogger(__name__)


class Login:
    """The result of the last check of this manager's access to the cloud.

    Until all services have accepted the manager, a check asks all of them; afterwards it asks only
    Keystone.

    :param core: the Core of the manager.
    :param owner: the name of the manager, for the log.
    :param is_connected: returns whether the manager receives calls from the bus.
    """

    def __init__(self, core, owner, is_connected=lambda: True):
        self._core = core
        self._owner = owner
        self._is_connected = is_connected
        self._checked = False
        self._accepted = False
        # The CloudError of the last check; None if the manager was accepted.
        self._error = None

    @property
    def may_act(self):
        """Return whether events may be carried out.

        If a service refuses the manager, every event would fail, and so would its lease. If a
        service only does not answer, events may be carried out, because failed events are retried.
        """
        return self._checked and not self._is_refused

    @property
    def not_ready(self):
        """Return why this manager is not ready, for operators; None if it is ready."""
        if not self._checked:
            return errors.ManagerNotReady().message
        return self._error and self._error.message

    def refresh(self):
        """Check the access to the cloud. If the result changed, log it and wake the event loop."""
        error = None
        try:
            self._check()
            if not self._is_connected():
                raise errors.CloudUnreachable(service='The message bus', reason='no connection')
        except errors.CloudError as cloud_error:
            error = cloud_error
        changed = not self._checked or _kind(error) != _kind(self._error)
        self._checked, self._error = True, error
        if changed:
            self._log()
            self._core.notify()

    def check(self):
        """Raise the error of the last check if a service refused this manager.

        :raises CloudError: this manager cannot work until its configuration is corrected.
        :raises ManagerNotReady: there was no check yet.
        """
        if self._is_refused:
            raise self._error
        if not self._checked:
            raise errors.ManagerNotReady()

    def _check(self):
        if self._accepted:
            # This asks Keystone only if the token expires soon.
            self._core.cloud.log_in()
            return
        # Events wait for the first check, so a service that hangs must not delay it for long.
        with call_guard.answered_within(self._core.conf.manager.cloud_answer_seconds):
            self._core.cloud.check()
        self._accepted = True

    @property
    def _is_refused(self):
        return (self._error is not None
                and not isinstance(self._error, errors.CloudUnreachable))

    def _log(self):
        if self._error is None:
            LOG.info('Manager %s: ready', self._owner)
        elif self._is_refused:
            LOG.error('Manager %s: not ready, and carries out no event: %s', self._owner,
                      self._error.message)
        else:
            LOG.warning('Manager %s: not ready; it retries failed events until all services '
                        'answer: %s', self._owner, self._error.message)


def _kind(error):
    """Return a key that is equal for two errors of the same problem."""
    return type(error), error and error.kwargs['service']
