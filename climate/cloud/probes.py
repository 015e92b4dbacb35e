# SPDX-License-Identifier: Apache-2.0
"""Probes of the connected services: which ones answer, and what is wrong with the others."""
from concurrent import futures
import dataclasses
import re

from climate import errors

# urllib3's text around the reason of a failed connection, which is kept.
_AROUND_ERRNO = re.compile(r'HTTPS?ConnectionPool\(.*\[Errno -?\d+\] ([\w ]+).*', re.DOTALL)
_NO_TOKEN = 'it cannot be called, because Keystone issues no token.'


@dataclasses.dataclass(frozen=True)
class Answer:
    """The result of the probe of one service.

    :ivar name: the name of its adapter and of its option group.
    :ivar problem: what is wrong, in words; None: the service answers.
    :ivar may_pass: the service was not reached, so the problem may be temporary.
    :ivar reason: the text of the error that the service or the connection gave, or None.
    """

    name: str
    problem: str | None = None
    may_pass: bool = False
    reason: str | None = None


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
        same = keystone.reason is not None and found.reason == keystone.reason
        return dataclasses.replace(found, problem=_NO_TOKEN) if same else found

    others = sorted(set(cloud.adapters) - {'keystone'})
    with futures.ThreadPoolExecutor(len(others) or 1, 'probe') as pool:
        return sorted([keystone, *pool.map(answer, others)], key=lambda each: each.name)


def _answer(name, adapter, services):
    try:
        adapter.probe(services)
    except errors.CloudError as error:
        return Answer(name, _AROUND_ERRNO.sub(r'\1', error.message),
                      isinstance(error, errors.CloudUnreachable), error.details.get('reason'))
    except (LookupError, TypeError, ValueError) as error:
        return Answer(name, f'the answer is not one of {name} ({type(error).__name__}: {error}). '
                            f'Is the endpoint in [{name}], or in the service catalog, the right '
                            'one?')
    return Answer(name)
