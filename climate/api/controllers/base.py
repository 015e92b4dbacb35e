# SPDX-License-Identifier: Apache-2.0
"""The base class of the controllers, and helpers for their requests."""
import collections.abc
import dataclasses
import functools
import inspect

import pecan
from pecan import rest
from pecan import util
import webob.exc

from climate import errors
from climate import policy
from climate.api import error_names
from climate.api import hooks
from climate.api import queries
from climate.api import views
from climate.plugins import registry
from climate.rpc import client

_DRY_RUN = 'dry_run'
_LONGEST_ID = 36


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
    """A REST controller of one noun: /NOUN is the collection, and /NOUN/{id} is one object."""

    _OF_ALL = {'get_all': 'GET', 'post': 'POST'}
    _OF_ONE = {'get_one': 'GET', 'put': 'PUT', 'patch': 'PATCH', 'delete': 'DELETE'}

    #: The methods that accept ``?dry_run=true``.
    dry_runs: tuple[str, ...] = ()
    #: Parameters of GET that requests with a body may also have, and that are ignored there.
    ignored: tuple[str, ...] = ()
    #: A clause about the path that "from REST 1.1 on" completes; None: REST 1.0 has the path.
    since_1_1: str | None = None
    #: Whether to refuse REST 1.0 before the check of policy.
    version_first = False

    def __new__(cls, *_args, **_named):
        # Pecan searches all attributes of a class each time for routes that it does not support.
        # Climate has none, and the search takes most of the time in which the API starts.
        return object.__new__(cls)

    def __init__(self, parts):
        self._parts = parts

    _handle_head = rest.RestController._handle_get

    @pecan.expose()
    def _route(self, args, request=None):
        try:
            method, remainder = super()._route(args, request)
            if method.__self__ is self:
                self._refuse_extra_steps(method.__name__, list(filter(None, remainder)))
                self._refuse_query(request, method.__name__)
        except webob.exc.HTTPMethodNotAllowed as error:
            if not hasattr(error, 'verbs'):
                here = self._OF_ONE if any(args) else self._OF_ALL
                error.verbs = [verb for name, verb in here.items() if hasattr(self, name)]
            error.allow = error.verbs
            raise
        return method, remainder

    def _lookup_child(self, remainder):
        # pecan's method would return any attribute, such as __class__.
        attribute = getattr(self, remainder, None)
        is_child = isinstance(attribute, rest.RestController) or util.iscontroller(attribute)
        return attribute if is_child else None

    def _find_sub_controllers(self, remainder, request):
        # pecan's method raises an error if an attribute is no controller.
        if not any(map(self._lookup_child, remainder)):
            return None
        return super()._find_sub_controllers(remainder, request)

    def _get_args_for_controller(self, controller):
        # pecan's method first reads the request of the thread. Because there is none, pecan raises
        # a shared error object, whose traceback would keep the data of every request.
        return _arguments(controller.__func__)

    def _refuse_extra_steps(self, name, steps):
        # Otherwise pecan would call methods for one resource without an id, and methods for the
        # collection with an id.
        if len(steps) > 1:
            raise webob.exc.HTTPNotFound()
        if (name in self._OF_ONE) != bool(steps):
            raise webob.exc.HTTPMethodNotAllowed()

    def _refuse_query(self, request, name):
        # A caller who requests a dry run must never get a real change.
        if request.method == 'HEAD' or name in ('get_all', 'get_one'):
            return
        known = (*self.ignored, *((_DRY_RUN,) if name in self.dry_runs else ()))
        if not hooks.is_lenient(request):
            queries.refuse_unknown(request, known)
        elif _DRY_RUN in request.GET and queries.flag(request, _DRY_RUN):
            raise errors.BadField(field=_DRY_RUN, reason=(
                'REST 1.0 has no dry runs, so the change would be made: send '
                '"OpenStack-API-Version: reservation 1.1".'))
        if request.GET.get(_DRY_RUN) == '':
            raise errors.BadField(field=_DRY_RUN, reason='it is empty: give true or false.')

    def _authorized(self, req, rule, target=None):
        """Return the caller if policy allows the request.

        :raises Forbidden: policy does not allow it.
        :raises NotFound: the request uses REST 1.0, which does not have this path.
        """
        caller = hooks.caller(req)
        if not self.version_first:
            self._parts.policy.authorize(caller, rule, target)
        if self.since_1_1 is not None:
            refuse_lenient(req, self.since_1_1)
        if self.version_first:
            self._parts.policy.authorize(caller, rule, target)
        return caller

    def _project(self, req, caller, rule):
        """Return the id of the project that a query names; None: all projects.

        :param rule: the policy rule for projects other than the caller's.
        :raises Forbidden: the caller may not see other projects.
        """
        everything = queries.flag(req, 'all_projects')
        project_id = queries.project_id(req) if 'project_id' in req.GET else None
        if everything or project_id not in (None, caller.project_id):
            self._parts.policy.authorize(caller, rule)
        return project_id if everything or project_id else caller.project_id

    def _page(self, req, name, fetch, render, marker=str, marker_of=lambda item: item.id):
        """Return the answer of a list, {name: items}, with a link to the next page if there is one.

        :param fetch: a function (marker or None, limit) that returns the items.
        :param render: a function that returns the items as JSON-ready data.
        :param marker: a function that parses the marker of the query.
        :param marker_of: a function that returns the marker of the last item of the page.
        """
        limit, after = queries.page(req, self._parts.conf.api.max_limit, marker)
        # One item more than the page has shows whether there is a next page.
        items, more = queries.page_of(fetch(after, limit + 1), limit)
        answer = {name: render(items)}
        if more:
            answer[f'{name}_links'] = queries.next_link(req, str(marker_of(items[-1])))
        return answer


class SubController(Controller):
    """A REST controller of a path below one object, such as /leases/{id}/history.

    :param visible: a function (request, id, …) that returns the object if the caller may see it.
    """

    def __init__(self, parts, visible):
        super().__init__(parts)
        self._visible = visible


class AnsweringController(SubController):
    """A REST controller of a path below one lease, whose answer is a lease.

    :param answer: a function (request, response, lease) that returns the body of the answer.
    """

    def __init__(self, parts, visible, answer):
        super().__init__(parts, visible)
        self._answer = answer


@functools.cache
def _arguments(function):
    """Return the names of the arguments of a method after self, request and response."""
    return inspect.getfullargspec(function).args[3:]


def refuse_lenient(request, clause):
    """Refuse a caller of REST 1.0.

    :param clause: a clause that "from REST 1.1 on" completes, such as "Services are listed".
    :raises NotFound: the request uses REST 1.0.
    """
    if hooks.is_lenient(request):
        raise errors.NotFound(f'{clause} from REST 1.1 on.')


def created(req, resp, path):
    """Set the status and the Location of an answer to a POST that created an object."""
    resp.status = 201
    resp.headers['Location'] = f'{req.application_url}/v1/{path}'


def refuse_long(text, error, name, **more):
    """Raise `error` for an id that is too long; the error gets `name`=id and `more`."""
    if len(text) > _LONGEST_ID:
        raise error(**{name: text[:80]}, **more)


def resource_id(text, pool=error_names.HOST):
    """Parse the id of a resource into a number.

    :raises ResourceNotFound: no resource can have this id.
    """
    number = queries.row_number(text)
    if number is None:
        raise errors.ResourceNotFound(pool=pool, resource=text[:80])
    return number


def entry_id(text):
    """Parse the id of an entry of a history or a log, the marker of its pages.

    :raises BadField: no entry can have this id.
    """
    number = queries.row_number(text)
    if number is None:
        raise errors.BadField(field='marker', reason=f'"{text[:40]}" is not the id of an entry.')
    return number
