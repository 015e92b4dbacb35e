# SPDX-License-Identifier: Apache-2.0
"""The mapping of foreign errors of the real cloud to CloudError."""
import contextlib

from keystoneauth1 import exceptions as keystone_errors
import requests

from climate import errors

#: Errors of any service that is called with a keystoneauth session.
FOREIGN = (keystone_errors.ClientException, requests.RequestException)
_NO_ANSWER = (keystone_errors.ConnectionError, keystone_errors.RetriableConnectionFailure,
              keystone_errors.DiscoveryFailure, requests.ConnectionError, requests.Timeout,
              requests.exceptions.ChunkedEncodingError)
# The 4xx of a service that is too busy, and the 5xx that refuse a request permanently.
_TOO_BUSY = (408, 429)
_REFUSED_PERMANENTLY = (501, 505)
_TRUST_DEAD_STATUS = (401, 403, 404)
_LOGIN = '/auth/tokens'


def cloud_error(interface, error):
    """Return the CloudError for a foreign error that a method of a ServiceInterface raised."""
    return _cloud_error(interface.service, error, interface.trust_id, interface.login_group)


@contextlib.contextmanager
def mapped(service, trust_id=None, login_group='keystone'):
    """Raise CloudError instead of the foreign errors of the block.

    :param service: the name of the service in messages.
    :param trust_id: the trust under which it is called, or None.
    :param login_group: the option group whose login is used.
    """
    try:
        yield
    except FOREIGN as error:
        raise _cloud_error(service, error, trust_id, login_group) from error


@contextlib.contextmanager
def ignored_if_absent():
    """Ignore that the object of the block does not exist; raise the error of a failed login."""
    with replaced(keystone_errors.NotFound, lambda error: None):
        yield


@contextlib.contextmanager
def replaced(kinds, replacement):
    """Raise another error in place of those of the block, except for a failed login.

    :param kinds: a class, or a tuple of classes, of errors of keystoneauth.
    :param replacement: callable(error) → the error to raise; None: ignore it.
    """
    try:
        yield
    except kinds as error:
        if is_login(error):
            raise
        other = replacement(error)
        if other is not None:
            raise other from error


def status_of(error):
    """Return the HTTP status of a foreign error, or None if there was no answer."""
    for name in ('http_status', 'code', 'status_code'):
        status = getattr(error, name, None)
        if isinstance(status, int):
            return status
    return getattr(getattr(error, 'response', None), 'status_code', None)


def is_outage(status):
    """Return whether an answer with this HTTP status means that the service is down or busy.

    Services answer 500 while their database, their bus or another part of them is down. None: there
    was no answer with a status.
    """
    return status is not None and (
        status in _TOO_BUSY or (status >= 500 and status not in _REFUSED_PERMANENTLY))


def message_of(error):
    """Return the message of a foreign error, with the detail that keystoneauth leaves out."""
    reason = str(error) or type(error).__name__
    # Answers that do not follow the API guidelines have no such list, or are not JSON.
    with contextlib.suppress(AttributeError, LookupError, TypeError, ValueError):
        detail = error.response.json()['errors'][0]['detail'].strip()
        return reason if detail in reason else f'{reason}: {detail}'
    return reason


def _cloud_error(service, error, trust_id, login_group):
    status = status_of(error)
    reason = message_of(error)
    if is_login(error):
        service = 'Keystone'
        if trust_id is not None and status in _TRUST_DEAD_STATUS:
            return errors.TrustDead(service=service, reason=reason)
    if isinstance(error, _NO_ANSWER) or is_outage(status):
        return errors.CloudUnreachable(service=service, reason=reason)
    if is_login(error):
        reason = f'the login in [{login_group}] is refused: {reason}'
    elif isinstance(error, keystone_errors.CatalogException):
        reason = f'it is not in the service catalog: {reason}'
    elif isinstance(error, requests.JSONDecodeError):
        reason = f'its answer is not JSON: {reason}'
    return errors.CloudError(service=service, reason=reason)


def is_login(error):
    """Return whether the request for a token failed, not the call that needed the token."""
    if isinstance(error, keystone_errors.HttpError):
        return (error.url or '').endswith(_LOGIN)
    # A failed connection has its address only in its text.
    return isinstance(error, keystone_errors.ConnectionError) and _LOGIN in str(error)
