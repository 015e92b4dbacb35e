# SPDX-License-Identifier: Apache-2.0
"""The list of leases: filters, order and page, which are all in the address of the page."""
import dataclasses

from climate.client import errors
from climate.client import status_words
from climate.client import times
from climate.console import texts

LIVING, PAST = 'living', 'past'
#: {value of "which" in the query: the statuses of REST 1.1}
WHICH = {LIVING: status_words.LIVING,
         PAST: tuple(sorted(status_words.PAST - {status_words.DELETED}))}
NEWEST_FIRST = 'created_at:desc'
#: The numbers of leases that a page may have.
ROWS = (10, 25, 50, 100, 200)
USUAL_ROWS = 50
_MORE_FIELDS = {'owner': 'owner', 'project': 'project', 'type': 'resource_type',
                'resource': 'resource', 'from': 'ends_after', 'to': 'starts_before'}
#: {field of the form: the filter of the client library}
FIELDS = {'search': 'search', 'status': 'status', 'series_id': 'series_id', **_MORE_FIELDS}
#: {column: the key that sorts by it, or None}
COLUMNS = {'name': 'name', 'project': 'project', 'owner': 'owner', 'status': 'status',
           'left': None, 'start': 'start', 'end': 'end', 'what': None}
_DEFAULTS = {'which': LIVING, 'sort': NEWEST_FIRST, 'rows': str(USUAL_ROWS), 'page': '1'}
_KEYS = {'created_at', *filter(None, COLUMNS.values())}
_LONGEST = 255


@dataclasses.dataclass(frozen=True)
class ListedLease:
    """A lease in a list.

    :ivar owner: the name of the user, or the id if the name is not known, as for `project`.
    :ivar why: the reason of the status, or ''.
    :ivar start: ISO text; '' while the lease waits for its resources, as is `end`.
    :ivar shared: whether another project has shared the lease.
    :ivar series_id: the id of its series, if the user can see it, or None.
    """

    id: str
    name: str
    owner: str
    project: str
    status: str
    why: str
    left: str
    start: str
    end: str
    what: str
    shared: bool = False
    series_id: str | None = None


@dataclasses.dataclass(frozen=True)
class LeasePage:
    """A page of the list.

    :ivar leases: its ListedLeases.
    :ivar number: the number of the page.
    :ivar previous: the query of the page before it, or None.
    :ivar following: the query of the page after it, or None.
    :ivar problem: why the service refused the filters; '' if it did not.
    """

    leases: tuple = ()
    number: int = 1
    previous: dict | None = None
    following: dict | None = None
    problem: str = ''


class ListQuery:
    """The query of the address of the page; invalid values count as absent.

    :ivar values: {parameter: text} without the defaults.
    """

    def __init__(self, given):
        known = {'which', 'all_projects', 'sort', 'rows', 'page', 'after', 'before', *FIELDS}
        self.values = {name: value.strip() for name, value in given.items()
                       if name in known and 0 < len(value.strip()) <= _LONGEST
                       and value.strip() != _DEFAULTS.get(name)}
        for name, is_valid in (
                ('which', lambda value: value in WHICH),
                ('status', lambda value: value in status_words.LEASE),
                ('sort', lambda value: value.removesuffix(':desc') in _KEYS),
                ('rows', lambda value: value in map(str, ROWS)),
                ('page', lambda value: value.isascii() and value.isdigit() and len(value) < 6)):
            if name in self.values and not is_valid(self.values[name]):
                del self.values[name]

    def __getitem__(self, name):
        return self.values.get(name, _DEFAULTS.get(name, ''))

    def address(self, **changes):
        """Return the query of the first page with other values; None removes a value."""
        others = {name: value for name, value in self.values.items()
                  if name not in ('after', 'before', 'page')}
        return {name: value for name, value in {**others, **changes}.items()
                if value is not None and value != _DEFAULTS.get(name)}

    def unfiltered(self):
        """Return the query of the first page without filters."""
        return self.address(**dict.fromkeys(FIELDS))

    @property
    def everybody(self):
        return 'all_projects' in self.values or 'project' in self.values

    @property
    def is_filtered(self):
        return any(name in self.values for name in FIELDS)

    @property
    def has_more_filters(self):
        return any(name in self.values for name in _MORE_FIELDS)

    @property
    def key(self):
        return self['sort'].removesuffix(':desc')

    @property
    def descends(self):
        return self['sort'].endswith(':desc')

    def sorted_by(self, key):
        """Return the query that sorts by a key; the other way round if it already does."""
        again = self.key == key and not self.descends
        return self.address(sort=f'{key}:desc' if again else key)


def find(client, query):
    """Return the LeasePage that a ListQuery selects."""
    try:
        return _page(client, query)
    except (errors.BadRequest, errors.BadValue) as error:
        return LeasePage(problem=str(error))
    except errors.NotFound:
        # The lease after which the page begins was removed from the database.
        if not {'after', 'before'} & set(query.values):
            raise
        return _page(client, ListQuery(query.address()))


def listed(lease):
    """Return the ListedLease of a lease."""
    waits = lease['status'] == status_words.ACQUIRING
    return ListedLease(
        lease['id'], lease['name'], lease.get('user_name') or lease['user_id'],
        lease.get('project_name') or lease['project_id'], lease['status'],
        lease.get('status_reason') or '', '' if waits else times.remaining(lease, times.utcnow()),
        '' if waits else lease['start'], '' if waits else lease['end'],
        describe_all(lease['reservations']), bool(lease.get('shared')),
        None if lease.get('shared') else lease.get('series_id'))


def describe_all(reservations):
    """Return the resources of reservations, such as "2 × hosts; network"."""
    return '; '.join(map(_describe, reservations))


def _page(client, query):
    count, number = int(query['rows']), int(query['page'])
    if 'before' in query.values:
        leases = _listed(client, query, count, backwards=True)[::-1]
        if len(leases) > count:
            return _with_links(query, leases[1:], max(number, 2), before=True, after=True)
        # This is the first page, which may have got leases since it was shown.
        query, number = ListQuery(query.address()), 1
    leases = _listed(client, query, count)
    return _with_links(query, leases[:count], number, before='after' in query.values,
                       after=len(leases) > count)


def _listed(client, query, count, backwards=False):
    """Return up to `count` + 1 ListedLeases after, or before, the place of a query."""
    filters = {filter_name: query[name] or None for name, filter_name in FIELDS.items()}
    filters['status'] = filters['status'] or WHICH[query['which']]
    descends = query.descends != backwards
    return [listed(lease) for lease in client.leases.list(
        limit=count + 1, sort=f'{query.key}:{"desc" if descends else "asc"}',
        marker=query['before' if backwards else 'after'] or None,
        all_projects='all_projects' in query.values or None, **filters)]


def _with_links(query, leases, number, before, after):
    """Return a LeasePage with links to the pages `before` and `after` it, if there are some."""
    return LeasePage(
        tuple(leases), number,
        query.address(before=leases[0].id, page=str(number - 1)) if before and leases else None,
        query.address(after=leases[-1].id, page=str(number + 1)) if after and leases else None)


def _describe(reservation):
    """Return the number and type of the resources of a reservation, such as "2 hosts"."""
    resource_type = reservation['resource_type']
    least, most = reservation.get('min'), reservation.get('max')
    count = reservation.get('amount') or (most if least == most else f'{least} to {most}')
    if count == 1 and f'one.{resource_type}' in texts.all_texts():
        return '1 × ' + texts.text(f'one.{resource_type}')
    kind = texts.text(f'type.{resource_type}')
    return kind if count is None else f'{count} × {kind}'
