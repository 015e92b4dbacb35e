# SPDX-License-Identifier: Apache-2.0
"""Facts in the world of the cases that members must not read, and how an answer shows one.

The facts are real: hosts that an administrator has disabled with a reason, calls of Nova that fail
with an internal address, an error that is a bug, and a lease of another project that is late.
"""
import itertools

from support import builders

from climate import errors
from climate.domain import records

#: A word in every reason, address and exception that only operators may read.
MARK = 'LEAK-4711'
URL = f'http://nova.internal.{MARK}:8774/v2.1/os-aggregates/1/action'
FOREIGN, FOREIGN_PROJECT = builders.STRANGER.split(':')[:2]
BEFORE = builders.minutes(10)
_LONG = builders.hours(50)


def furnish(manager):
    """Make the leases that have something to hide, in the minutes before NOON.

    :returns: the leases of the owner whom cases ask as.
    """
    made = [_with_disabled_host(manager), _with_failing_nova(manager), _with_a_bug(manager),
            _with_a_late_neighbour(manager)]
    manager.run_until(builders.NOON)
    return made


def refuse_a_trust(manager):
    """Make Keystone refuse the next trust, in its own words."""
    manager.cloud.fail('keystone.create_trust', 1, errors.TrustRefused(reason=f'{URL}: 403.'))


def secrets(manager):
    """{token of a member: what nothing that is answered to it may contain}."""
    names = manager.cloud.host_names()
    projects = [token.split(':')[1] for token in (builders.DEMO, builders.STRANGER)]
    found = {}
    for token, other in zip((builders.DEMO, builders.STRANGER), reversed(projects), strict=True):
        found[token] = [MARK, 'Traceback', *names, f'"{other}"', *_ids_of(manager, other)]
    return found


def shown(secrets, answer, request):
    """Return the secrets in the text of an answer that the request did not have itself."""
    # The request may have the name of a project without quotes, such as in its path.
    return [each for each in secrets if each in answer and each.strip('"') not in request]


def _ids_of(manager, project):
    found = manager.client.list_leases(
        builders.an_admin(), records.LeaseQuery(project_id=project))
    ids = [[lease.id, lease.trust_id, *(each.id for each in (*lease.reservations, *lease.events))]
           for lease in found]
    servers = [each.id for each in manager.cloud.servers() if each.project_id == project]
    return [each for each in (*servers, *itertools.chain(*ids)) if each]


def _with_disabled_host(manager):
    """A lease whose only host was disabled before it began, with a reason."""
    now = manager.clock()
    [host] = manager.enrol(1)
    lease = manager.book(start=now + builders.minutes(1), end=now + _LONG)
    manager.cloud.mark_host(host.name, enabled=False, reason=f'{MARK}: sold to another customer')
    manager.run_until(now + builders.minutes(2))
    return lease


def _with_failing_nova(manager):
    return _failed(manager, errors.CloudError(
        service='Nova', reason=f'Unable to establish connection to {URL}'))


def _with_a_bug(manager):
    return _failed(manager, KeyError(f'{MARK} in a traceback'))


def _failed(manager, error):
    """A lease whose start fails with that error."""
    now = manager.clock()
    _enrol_next(manager)
    lease = manager.book(end=now + _LONG)
    manager.cloud.fail('nova.add_host', 99, error)
    manager.run_until(now + builders.seconds(10))
    manager.cloud.fail('nova.add_host', 0, None)
    return lease


def _with_a_late_neighbour(manager):
    """A lease whose host a lease of another project does not return."""
    now = manager.clock()
    _enrol_next(manager)
    end = now + builders.minutes(2)
    theirs = manager.create(builders.a_lease(end=end), builders.a_member(FOREIGN, FOREIGN_PROJECT))
    mine = manager.book(start=end, end=now + _LONG)
    manager.run()
    manager.cloud.boot(FOREIGN_PROJECT, 'late', {'reservation': theirs.reservations[0].id})
    manager.cloud.fail('nova.delete_server', 9999, errors.CloudError(
        service='Nova', reason=f'{URL} answered 500'))
    manager.run_until(end + builders.seconds(30))
    return mine


def _enrol_next(manager):
    """Enrol one more host."""
    known = {each.name for each in manager.client.list_resources(builders.an_admin(), 'host')}
    name = next(each for each in sorted(manager.cloud.host_names()) if each not in known)
    return manager.client.create_resource(builders.an_admin(), 'host', name, {})
