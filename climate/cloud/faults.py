# SPDX-License-Identifier: Apache-2.0
"""Foreign errors become CloudError here and nowhere else.

A method of an adapter is decorated with `translated`, or with `read` if it changes nothing and so
may be tried again at once. The adapter has ``service``, the name in messages, and ``trust_id``,
which is None where it acts as Climate itself.
"""
import contextlib
import functools

from keystoneauth1 import exceptions as keystone_errors
from novaclient import exceptions as nova_errors
import requests
import tenacity

from climate import errors

_FOREIGN = (keystone_errors.ClientException, nova_errors.ClientException,
            nova_errors.UnsupportedVersion, requests.RequestException)
_NO_ANSWER = (keystone_errors.ConnectionError, keystone_errors.RetriableConnectionFailure,
              keystone_errors.DiscoveryFailure, requests.ConnectionError, requests.Timeout)
_NO_ANSWER_STATUS = (429, 502, 503, 504)
_TRUST_DEAD_STATUS = (401, 403, 404)
_READ_ATTEMPTS = 3


def translated(method):
    """The method of an adapter, with its foreign errors as CloudError."""
    @functools.wraps(method)
    def wrapper(self, *args, **kwargs):
        with mapped(self.service, self.trust_id):
            return method(self, *args, **kwargs)
    return wrapper


def read(method):
    """As `translated`, and tried again shortly when the other service cannot be reached."""
    again = tenacity.retry(
        retry=tenacity.retry_if_exception_type(errors.CloudUnreachable),
        stop=tenacity.stop_after_attempt(_READ_ATTEMPTS),
        wait=tenacity.wait_random_exponential(multiplier=0.1, max=1), reraise=True)
    return again(translated(method))


@contextlib.contextmanager
def mapped(service, trust_id=None):
    """What runs inside raises CloudError instead of foreign errors.

    :param service: the name of the other service in messages.
    :param trust_id: the trust under which it is called, or None.
    """
    try:
        yield
    except _FOREIGN as error:
        raise _cloud_error(service, error, trust_id) from error


def status_of(error):
    """The HTTP status of a foreign error, or None where there was no answer."""
    for name in ('http_status', 'code', 'status_code'):
        status = getattr(error, name, None)
        if isinstance(status, int):
            return status
    return getattr(getattr(error, 'response', None), 'status_code', None)


def _cloud_error(service, error, trust_id):
    status = status_of(error)
    reason = str(error) or type(error).__name__
    if is_login(error):
        service = 'Keystone'
        if trust_id is not None and status in _TRUST_DEAD_STATUS:
            return errors.TrustDead(service=service, reason=reason)
    if isinstance(error, _NO_ANSWER) or status in _NO_ANSWER_STATUS:
        return errors.CloudUnreachable(service=service, reason=reason)
    if is_login(error):
        reason = f'the login in [keystone] is refused: {reason}'
    elif isinstance(error, keystone_errors.CatalogException):
        reason = f'it is not in the service catalog: {reason}'
    return errors.CloudError(service=service, reason=reason)


def is_login(error):
    """Whether the error answers a request for a token, not the call that needed one."""
    return (isinstance(error, keystone_errors.HttpError)
            and (error.url or '').endswith('/auth/tokens'))
