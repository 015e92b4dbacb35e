# SPDX-License-Identifier: Apache-2.0
"""Errors of Climate itself: it is busy, or its database or manager does not answer."""
from climate.errors import base


class Overloaded(base.ClimateError):
    status = 503
    code = 'overloaded'
    template = 'Climate is busy: try again in {retry_after} seconds.'


class PlansBusy(Overloaded):
    code = 'plans_busy'
    template = ('The manager works on {most} plans, the maximum: try again in {retry_after} '
                'seconds.')


class NoManager(Overloaded):
    code = 'no_manager'
    template = 'No manager of Climate has started yet: try again in {retry_after} seconds.'


class ManagerOutdated(Overloaded):
    code = 'manager_outdated'
    template = ('Climate is being upgraded, and the manager that got the request does not know it '
                'yet: try again in {retry_after} seconds.')


class DatabaseUnreachable(Overloaded):
    code = 'database_unreachable'
    template = 'The database does not answer: try again in {retry_after} seconds.'


class DatabaseRefuses(DatabaseUnreachable):
    """The database answers, but an operator must repair it. ``details``: ``reason``."""

    code = 'database_refuses'
    template = ('The database does not work: {reason} Your operator must act; try again in '
                '{retry_after} seconds.')


class ManagerNotReady(base.ClimateError):
    status = 503
    code = 'manager_not_ready'
    template = 'The manager is not ready yet: it checks whether it may use the cloud.'


class ManagerSilent(base.ClimateError):
    status = 504
    code = 'manager_silent'
    template = ('The manager did not answer within {seconds} seconds. The work may go on: check '
                '{where}.')
