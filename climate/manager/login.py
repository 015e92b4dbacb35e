# SPDX-License-Identifier: Apache-2.0
"""The login of a manager: it is not ready before Keystone accepts it."""
from oslo_log import log

from climate import errors

LOG = log.getLogger(__name__)


class Login:
    """Whether Keystone accepts the login of this manager, as far as the last look found.

    :param core: the Core of the manager.
    :param owner: the name of the manager, for the log.
    """

    def __init__(self, core, owner):
        self._core = core
        self._owner = owner
        self._looked = False
        # The CloudError of the last look; None: the login was accepted.
        self._error = None

    @property
    def may_act(self):
        """Return whether events may be carried out.

        Each of them would fail with a refused login, and its lease with it. If Keystone does not
        answer, they are tried again as in every outage.
        """
        return self._looked and not self._is_refused

    def look(self):
        """Log in unless there is a valid token; log a change, and wake the event loop."""
        error = None
        try:
            self._core.cloud.log_in()
        except errors.CloudError as found:
            error = found
        changed = not self._looked or type(error) is not type(self._error)
        self._looked, self._error = True, error
        if changed:
            self._tell()
            self._core.notify()

    def check(self):
        """Raise the error of the last look if Keystone refused the login.

        :raises CloudError: this manager cannot work until its configuration is mended.
        """
        if self._is_refused:
            raise self._error

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
            LOG.warning('Manager %s: not ready; it logs in when Keystone answers: %s', self._owner,
                        self._error.message)
