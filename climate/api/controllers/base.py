# SPDX-License-Identifier: Apache-2.0
"""What every controller is made with."""
import collections.abc
import dataclasses
import functools
import inspect
from urllib import parse

import pecan
from pecan import rest
import webob.exc

from climate import errors
from climate import policy
from climate.api import hooks
from climate.api import views
from climate.rpc import client

_LONGEST_ID = 36
_LONGEST_PROJECT = 255


@dataclasses.dataclass(frozen=True)
class Parts:
    """The parts of one API process.

    :ivar plugins: {resource type: plugin class}.
    :ivar clock: returns this moment.
    """

    conf: object
    manager: client.ManagerClient
    policy: policy.Policy
    views: views.Views
    plugins: dict
    clock: collections.abc.Callable


class Controller(rest.RestController):
    """Of one noun: its methods for all are at its own path, those for one are right below it."""

    _OF_ALL = {'get_all': 'GET', 'post': 'POST'}
    _OF_ONE = {'get_one': 'GET', 'put': 'PUT', 'patch': 'PATCH', 'delete': 'DELETE'}

    _handle_head = rest.RestController._handle_get

    @pecan.expose()
    def _route(self, args, request=None):
        try:
            method, remainder = super()._route(args, request)
            if method.__self__ is self:
                self._refuse_place(method.__name__, list(filter(None, remainder)))
        except webob.exc.HTTPMethodNotAllowed as error:
            if not hasattr(error, 'verbs'):
                here = self._OF_ONE if any(args) else self._OF_ALL
                error.verbs = [verb for name, verb in here.items() if hasattr(self, name)]
            error.allow = error.verbs
            raise
        return method, remainder

    def _get_args_for_controller(self, controller):
        # pecan's own asks for a request of the thread first. There is none, and the error that says
        # so is one and the same object each time: it would keep all that every request had.
        return _arguments(controller.__func__)

    def _refuse_place(self, name, steps):
        # Else pecan would call a method for one without its id, and one for all with an id.
        if len(steps) > 1:
            raise webob.exc.HTTPNotFound()
        if (name in self._OF_ONE) != bool(steps):
            raise webob.exc.HTTPMethodNotAllowed()


@functools.cache
def _arguments(function):
    """The names of the arguments that a method takes after self, request and response."""
    return inspect.getfullargspec(function).args[3:]


def refuse_lenient(request, what):
    """Refuse a caller of REST 1.0.

    :raises NotFound: `what` (a clause) is so from REST 1.1 on.
    """
    if hooks.is_lenient(request):
        raise errors.NotFound(f'{what} from REST 1.1 on.')


def refuse_long(text, error, name):
    """Refuse an id that is longer than any; `error` takes it under `name`."""
    if len(text) > _LONGEST_ID:
        raise error(**{name: text[:80]})


def asking_project(request):
    """The project that a query names.

    :raises BadField: it names none.
    """
    project_id = request.GET.get('project_id')
    if not project_id or len(project_id) > _LONGEST_PROJECT:
        raise errors.BadField(field='project_id', reason=(
            f'name the project that would use the reservation, in 1 to {_LONGEST_PROJECT} '
            'characters: ?project_id=ID.'))
    return project_id


def resource_id(text):
    """The id of a resource as a number.

    :raises HostNotFound: no resource has such an id.
    """
    number = row_number(text)
    if number is None:
        raise errors.HostNotFound(host=text[:80])
    return number


def row_number(text):
    """The number that is the id of a row in the database; None where no row can have such an id."""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 19 else None


def page(request, most, marker=str):
    """(limit, marker) of the query of a list; `most` and None where it does not say.

    :param marker: reads the marker's text.
    :raises BadField: the limit is no number, or below 1.
    """
    limit = request.GET.get('limit', str(most))
    if not (limit.isascii() and limit.isdigit() and int(limit[:10]) > 0):
        raise errors.BadField(field='limit', reason=(
            f'"{limit[:40]}" is no number from 1 to {most}.'))
    text = request.GET.get('marker')
    return min(int(limit[:10]), most), marker(text) if text else None


def next_link(request, marker):
    """The link to the page after the one that ends with `marker`."""
    query = parse.urlencode({**request.GET, 'marker': marker})
    return [{'rel': 'next', 'href': f'{request.path_url}?{query}'}]
