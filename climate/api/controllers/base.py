# SPDX-License-Identifier: Apache-2.0
"""The base class of the controllers, and helpers for their requests."""
import collections.abc
import dataclasses
import functools
import inspect
from urllib import parse

import pecan
from pecan import rest
from pecan import util
import webob.exc

from climate import errors
from climate import policy
from climate.api import body
from climate.api import error_names
from climate.api import hooks
from climate.api import queries
from climate.api import views
from climate.plugins import registry
from climate.rpc import client

_DRY_RUN = 'dry_run'
_LONGEST_ID = 36
_LONGEST_PROJECT = 255


@dataclasses.dataclass(frozen=True)
class Parts:
    """The dependencies of all controllers in one API process.

    :ivar plugins: {resource type: plugin class}.
    :ivar pools: {name: Pool class}.
    :ivar clock: returns the current time.
    """

    conf: object
    manager: client.ManagerClient
    policy: policy.Policy
    views: views.Views
    plugins: dict
    clock: collections.abc.Callable

    @property
    def pools(self):
        return registry.pools_of(self.plugins)


class Controller(rest.RestController):
    """A REST controller of one noun: NOUN for its collection, NOUN/{id} for one of them."""

    _OF_ALL = {'get_all': 'GET', 'post': 'POST'}
    _OF_ONE = {'get_one': 'GET', 'put': 'PUT', 'patch': 'PATCH', 'delete': 'DELETE'}

    #: The methods that can be tried without being carried out: ``?dry_run=true``.
    dry_runs: tuple[str, ...] = ()
    #: Parameters of GET that requests with a body may have, too, and that mean nothing there.
    ignored: tuple[str, ...] = ()

    _handle_head = rest.RestController._handle_get

    @pecan.expose()
    def _route(self, args, request=None):
        try:
            method, remainder = super()._route(args, request)
            if method.__self__ is self:
                self._refuse_place(method.__name__, list(filter(None, remainder)))
                self._refuse_query(request, method.__name__)
        except webob.exc.HTTPMethodNotAllowed as error:
            if not hasattr(error, 'verbs'):
                here = self._OF_ONE if any(args) else self._OF_ALL
                error.verbs = [verb for name, verb in here.items() if hasattr(self, name)]
            error.allow = error.verbs
            raise
        return method, remainder

    def _lookup_child(self, remainder):
        # pecan's own method returns any attribute, such as __class__.
        found = getattr(self, remainder, None)
        known = isinstance(found, rest.RestController) or util.iscontroller(found)
        return found if known else None

    def _find_sub_controllers(self, remainder, request):
        # pecan's own method raises an error for other attributes.
        if not any(map(self._lookup_child, remainder)):
            return None
        return super()._find_sub_controllers(remainder, request)

    def _get_args_for_controller(self, controller):
        # pecan's own method looks for a request of the thread first. There is none, and pecan then
        # raises one shared error object, whose traceback would keep the data of every request.
        return _arguments(controller.__func__)

    def _refuse_place(self, name, steps):
        # Otherwise pecan would call methods for one resource without an id, and methods for the
        # collection with an id.
        if len(steps) > 1:
            raise webob.exc.HTTPNotFound()
        if (name in self._OF_ONE) != bool(steps):
            raise webob.exc.HTTPMethodNotAllowed()

    def _refuse_query(self, request, name):
        # A caller who asks for a dry run must never get the real thing.
        if request.method == 'HEAD' or name in ('get_all', 'get_one'):
            return
        known = (*self.ignored, *((_DRY_RUN,) if name in self.dry_runs else ()))
        if not hooks.is_lenient(request):
            queries.refuse_unknown(request, known)
        elif _DRY_RUN in request.GET and body.flag(request, _DRY_RUN):
            raise errors.BadField(field=_DRY_RUN, reason=(
                'REST 1.0 has no dry runs, so the change would be made: send '
                '"OpenStack-API-Version: reservation 1.1".'))
        if request.GET.get(_DRY_RUN) == '':
            raise errors.BadField(field=_DRY_RUN, reason='it is empty: give true or false.')


@functools.cache
def _arguments(function):
    """Return the names of the arguments of a method after self, request and response."""
    return inspect.getfullargspec(function).args[3:]


def refuse_lenient(request, what):
    """Refuse a caller of REST 1.0.

    :param what: a clause that "from REST 1.1 on" completes, such as "Services are listed".
    :raises NotFound: the request uses REST 1.0.
    """
    if hooks.is_lenient(request):
        raise errors.NotFound(f'{what} from REST 1.1 on.')


def refuse_long(text, error, name, **more):
    """Raise `error` for an id that is too long; the error gets `name`=id and `more`."""
    if len(text) > _LONGEST_ID:
        raise error(**{name: text[:80]}, **more)


def queried_project(request):
    """Return the project_id of a query.

    :raises BadField: the query has none, or it is too long.
    """
    project_id = request.GET.get('project_id')
    if not project_id or len(project_id) > _LONGEST_PROJECT:
        raise errors.BadField(field='project_id', reason=(
            f'name the project that would use the reservation, in 1 to {_LONGEST_PROJECT} '
            'characters: ?project_id=ID.'))
    return project_id


def resource_id(text, pool=error_names.HOST):
    """Parse the id of a resource into a number.

    :raises ResourceNotFound: no resource can have this id.
    """
    number = row_number(text)
    if number is None:
        raise errors.ResourceNotFound(pool=pool, resource=text[:80])
    return number


def row_number(text):
    """Parse the id of a database row; None if no row can have this id."""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 19 else None


def page(request, most, marker=str):
    """Parse (limit, marker) of the query of a list; the defaults are `most` and None.

    :param marker: a function that parses the text of the marker.
    :raises BadField: the limit is not a number, or below 1.
    """
    limit = request.GET.get('limit', str(most))
    if not (limit.isascii() and limit.isdigit() and int(limit[:10]) > 0):
        raise errors.BadField(field='limit', reason=(
            f'"{limit[:40]}" is not a number from 1 to {most}.'))
    text = request.GET.get('marker')
    return min(int(limit[:10]), most), marker(text) if text else None


def shown(found, limit):
    """Return (the items of a page, whether there is a next page).

    :param found: up to one item more than the page may have. The last one is None if a limit of
        bytes ends the page.
    """
    if found and found[-1] is None:
        return found[:-1], True
    return found[:limit], len(found) > limit


def next_link(request, marker):
    """Return the links to the next page, which begins after `marker`."""
    # A parameter may be given several times.
    others = [pair for pair in request.GET.items() if pair[0] != 'marker']
    query = parse.urlencode([*others, ('marker', marker)])
    return [{'rel': 'next', 'href': f'{request.path_url}?{query}'}]
