# SPDX-License-Identifier: Apache-2.0
"""The line of those that wait: whoever gives something back wakes the first, and so on.

A try that was woken and fails wakes the next in line, and so does one that succeeds: each release
runs along the line, in its order. Who comes later may take nothing while one before it is still to
be tried; so the order holds with several managers too.

Who wakes others, or writes anything of a lease that waits itself, locks the line before: see
:mod:`climate.db` for the order of all locks.
"""
import datetime

from climate.db import acquisitions
from climate.db import allocations
from climate.domain import agenda
from climate.domain import lifecycle


class OutOfTurn(Exception):
    """Somebody before it in line is to be tried first; nothing was written."""


def lock(connection, lease):
    """Lock the line where a lease, which is locked, may stand in it or wait for its start.

    To be called before events of that lease are written in a transaction that may wake others.
    """
    if lease.state == lifecycle.ACQUIRING or lease.event(agenda.HEAL) is not None:
        acquisitions.lock_line(connection)


def wake(connection, now, leaving=None):
    """Let those that wait be tried: something is given back in this transaction.

    To be called before events of the lease that gives it back are written.

    :param leaving: the id of a lease that does not wait any more from this transaction on.
    """
    if acquisitions.somebody_waits(connection):
        # Whoever is first now stays it until this is committed.
        acquisitions.lock_line(connection)
        _wake(connection, acquisitions.first(connection, leaving), now)
        acquisitions.wake_healing(connection, now)


def pass_on(connection, acquisition, now):
    """Let the next in line be tried, after one that was woken did not fit."""
    _wake(connection, acquisitions.next_after(connection, acquisition), now)


def next_cleaned(connection, conf, now):
    """When a resource can be had next by time alone, or None: nobody gives it back just then."""
    cleaning = datetime.timedelta(minutes=conf.manager.cleaning_minutes)
    return allocations.next_cleaned(connection, now, cleaning) if cleaning else None


def begin_anew(connection, now):
    """Let the line be tried from its beginning: one in it found room without being woken."""
    _wake(connection, acquisitions.first(connection), now)


def refuse_out_of_turn(connection, acquisition, now, alone=False):
    """Nothing, where nobody who waits comes before an Acquisition.

    To be called after resources are locked and proved free: what was given back until then has
    woken the first already.

    :param alone: refuse also where those before it are not to be tried now.
    :raises OutOfTurn: somebody does.
    """
    if acquisitions.is_healing_due(connection, now):
        # What it needs was promised to it.
        raise OutOfTurn()
    if acquisitions.is_due_before(connection, acquisition, now):
        raise OutOfTurn()
    if alone and acquisitions.first(connection) != acquisition.lease_id:
        raise OutOfTurn()


def _wake(connection, lease_id, now):
    if lease_id is not None:
        acquisitions.wake(connection, lease_id, now)
