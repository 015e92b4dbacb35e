# SPDX-License-Identifier: Apache-2.0
"""The series of leases on the pages of the console."""
from climate.client import errors

_ACTIVE = 'active'
_WITHOUT_LEASE = ('failed', 'skipped')


def find(client, series_id):
    """Return the record of a series; None: there is no id, or the user may not see the series."""
    if not series_id:
        return None
    try:
        return client.series.get(series_id)
    except (errors.NotFound, errors.Forbidden):
        return None


def problems(series):
    """Return the occurrences of a series, or of None, that have no lease although they are due."""
    return [] if series is None else [
        occurrence for occurrence in series['occurrences']
        if occurrence['status'] in _WITHOUT_LEASE and occurrence['problem']]


def list_query(series, project_id):
    """Return the query of the list of the leases of a series, for a user of a project, or None."""
    if series is None:
        return None
    return {'series_id': series['id'],
            **({} if series['project_id'] == project_id else {'all_projects': '1'})}


def number_of(series, lease):
    """Return the number of the occurrence of a lease; None: it is none, or there is no series."""
    return None if series is None else next(
        (occurrence['number'] for occurrence in series['occurrences']
         if occurrence['lease_id'] == lease['id']), None)


def may_cancel(series, lease):
    """Return whether to offer that a lease and the following ones of its series are cancelled."""
    return (number_of(series, lease) is not None and series['status'] == _ACTIVE
            and not lease.get('shared') and 'delete' in lease.get('actions', ()))
