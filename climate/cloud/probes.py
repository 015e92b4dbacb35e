# SPDX-License-Identifier: Apache-2.0
"""Probes of the connected services: which ones answer, and what is wrong with the others."""
from concurrent import futures
import dataclasses
import re

from keystoneauth1 import exceptions as keystone_errors

from climate import errors
from climate.cloud import concurrency
from climate.cloud import faults

# urllib3's text around the reason of a failed connection, which is kept.
_AROUND_ERRNO = re.compile(r'HTTPS?ConnectionPool\(.*\[Errno -?\d+\] ([\w ]+).*', re.DOTALL)
_FORBIDDEN = (401, 403)
_NOT_FOUND = 404
_WRONG_ENDPOINT = 'Is the endpoint in [{}], or in the service catalog, the right one?'
_NO_TOKEN = 'it cannot be called, because Keystone issues no token.'


@dataclasses.dataclass(frozen=True)
class ProbeResult:
    """The result of the probe of one service.

    :ivar name: the name of its adapter and of its option group.
    :ivar problem: a description of the problem; None: the service answers.
    :ivar may_pass: whether the service was not reached, so the problem may be temporary.
    :ivar reason: the text of the error that the service or the connection gave, or None.
    :ivar by_login: whether the problem is that Keystone issued no token for the service.
    """

    name: str
    problem: str | None = None
    may_pass: bool = False
    reason: str | None = None
    by_login: bool = False


def ask(cloud):
    """Probe all connected services; return their ProbeResults, sorted by name.

    Keystone is probed first, because the others need its token. They are probed all at once.
    """
    services = cloud.as_service()
    keystone = _probe('keystone', cloud.adapters['keystone'], services)

    def probe(name):
        if keystone.may_pass:
            return ProbeResult(name, _NO_TOKEN, may_pass=True)
        result = _probe(name, cloud.adapters[name], services)
        same = result.by_login and result.reason == keystone.reason
        return dataclasses.replace(result, problem=_NO_TOKEN) if same else result

    others = sorted(set(cloud.adapters) - {'keystone'})
    with futures.ThreadPoolExecutor(len(others) or 1, 'probe') as pool:
        return sorted([keystone, *concurrency.call_all(pool, probe, others)],
                      key=lambda result: result.name)


def check(cloud):
    """Probe all connected services.

    :raises CloudUnreachable: some services do not answer; none refuses.
    :raises CloudError: some services refuse; the message names their option groups.
    """
    failed = [result for result in ask(cloud) if result.problem is not None]
    refused = [result for result in failed if not result.may_pass]
    if failed:
        kind, reported = ((errors.CloudError, refused) if refused
                          else (errors.CloudUnreachable, failed))
        text = ' '.join(f'[{result.name}] {result.problem}' for result in reported)
        raise kind(text, service=', '.join(result.name.capitalize() for result in reported),
                   reason=text)


def _probe(name, adapter, services):
    try:
        adapter.probe(services)
    except errors.CloudError as error:
        text = _AROUND_ERRNO.sub(r'\1', error.message) + _advice(name, error.__cause__)
        return ProbeResult(name, text, isinstance(error, errors.CloudUnreachable),
                           error.details.get('reason'), faults.is_login(error.__cause__))
    except (AttributeError, LookupError, TypeError, ValueError) as error:
        # The client libraries expect the form of their service, also in errors.
        return ProbeResult(name, (f'the answer is not one of {name} ({type(error).__name__}: '
                                  f'{error}). {_WRONG_ENDPOINT.format(name)}'))
    return ProbeResult(name)


def _advice(name, error):
    """Return a sentence on how to correct a foreign error, or an empty text.

    :param name: the option group of the service.
    """
    if isinstance(error, keystone_errors.CatalogException):
        return (f'. Correct [{name}] region_name, [DEFAULT] region_name or [{name}] '
                'valid_interfaces, or create the endpoint.')
    if not faults.is_login(error) and (isinstance(error, ValueError)
                                       or faults.status_of(error) == _NOT_FOUND):
        # A probe calls what every such service has, and answers with JSON.
        return f'. {_WRONG_ENDPOINT.format(name)}'
    if faults.status_of(error) not in _FORBIDDEN:
        return ''
    if faults.is_login(error):
        return ' Correct the user, the password and the project there.'
    return (f' Give the user of [{name}], or else of [keystone], the role that the policy of this '
            'service asks for, by default admin.')
