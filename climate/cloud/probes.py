# SPDX-License-Identifier: Apache-2.0
"""Probes of the connected services: which ones answer, and what is wrong with the others."""
from concurrent import futures
import dataclasses
import re

from keystoneauth1 import exceptions as keystone_errors

from climate import errors
from climate.cloud import faults
from climate.cloud import parallel

# urllib3's text around the reason of a failed connection, which is kept.
_AROUND_ERRNO = re.compile(r'HTTPS?ConnectionPool\(.*\[Errno -?\d+\] ([\w ]+).*', re.DOTALL)
_FORBIDDEN = (401, 403)
_NO_TOKEN = 'it cannot be called, because Keystone issues no token.'


@dataclasses.dataclass(frozen=True)
class Answer:
    """The result of the probe of one service.

    :ivar name: the name of its adapter and of its option group.
    :ivar problem: what is wrong, in words; None: the service answers.
    :ivar may_pass: the service was not reached, so the problem may be temporary.
    :ivar reason: the text of the error that the service or the connection gave, or None.
    :ivar by_login: it is Keystone that gave no token for the service.
    """

    name: str
    problem: str | None = None
    may_pass: bool = False
    reason: str | None = None
    by_login: bool = False


def ask(cloud):
    """Probe all connected services; return their Answers, sorted by name.

    Keystone is probed first, because the others need its token. They are probed all at once.
    """
    services = cloud.as_service()
    keystone = _answer('keystone', cloud.adapters['keystone'], services)

    def answer(name):
        if keystone.may_pass:
            return Answer(name, _NO_TOKEN, may_pass=True)
        found = _answer(name, cloud.adapters[name], services)
        same = found.by_login and found.reason == keystone.reason
        return dataclasses.replace(found, problem=_NO_TOKEN) if same else found

    others = sorted(set(cloud.adapters) - {'keystone'})
    with futures.ThreadPoolExecutor(len(others) or 1, 'probe') as pool:
        return sorted([keystone, *parallel.each(pool, answer, others)],
                      key=lambda each: each.name)


def check(cloud):
    """Probe all connected services.

    :raises CloudUnreachable: some services do not answer; none refuses.
    :raises CloudError: some services refuse; the message names their option groups.
    """
    failed = [each for each in ask(cloud) if each.problem is not None]
    refused = [each for each in failed if not each.may_pass]
    if failed:
        kind, found = ((errors.CloudError, refused) if refused
                       else (errors.CloudUnreachable, failed))
        text = ' '.join(f'[{each.name}] {each.problem}' for each in found)
        raise kind(text, service=', '.join(each.name.capitalize() for each in found), reason=text)


def _answer(name, adapter, services):
    try:
        adapter.probe(services)
    except errors.CloudError as error:
        text = _AROUND_ERRNO.sub(r'\1', error.message) + _way_out(name, error.__cause__)
        return Answer(name, text, isinstance(error, errors.CloudUnreachable),
                      error.details.get('reason'), faults.is_login(error.__cause__))
    except (LookupError, TypeError, ValueError) as error:
        return Answer(name, f'the answer is not one of {name} ({type(error).__name__}: {error}). '
                            f'Is the endpoint in [{name}], or in the service catalog, the right '
                            'one?')
    return Answer(name)


def _way_out(name, error):
    """Return a sentence on how to mend a foreign error, or an empty text.

    :param name: the option group of the service.
    """
    if isinstance(error, keystone_errors.CatalogException):
        return (f'. Correct [{name}] region_name, [DEFAULT] region_name or [{name}] '
                'valid_interfaces, or create the endpoint.')
    if faults.status_of(error) not in _FORBIDDEN:
        return ''
    if faults.is_login(error):
        return ' Correct the user, the password and the project there.'
    return (f' Give the user of [{name}], or else of [keystone], the role that the policy of this '
            'service asks for, by default admin.')
