# SPDX-License-Identifier: Apache-2.0
"""The paths /v1/subscriptions and /v1/calendars, from REST 1.1 on."""
import pecan

from climate import errors
from climate.api import body
from climate.api import calendar_paths
from climate.api import hooks
from climate.api import queries
from climate.api import subscription_body
from climate.api import subscription_views
from climate.api.controllers import base
from climate.domain import subscriptions
from climate.policies import subscriptions as rules

_FILTERS = ('limit', 'marker', 'all_projects')


class SubscriptionsController(base.Controller):
    """Creates, lists, shows, changes, deletes and tests subscriptions."""

    def __init__(self, parts):
        self._parts = parts
        self.test = TestController(parts, self._visible)
        self.log = LogController(parts, self._visible)

    @pecan.expose('json')
    def get_all(self, req, resp):
        caller = self._authorized(req, rules.GET)
        queries.refuse_unknown(req, _FILTERS)
        limit, marker = base.page(req, self._parts.conf.api.max_limit)
        everything = body.flag(req, 'all_projects')
        if everything:
            self._parts.policy.authorize(caller, rules.ALL_PROJECTS)
        base.refuse_long(marker or '', errors.SubscriptionNotFound, 'subscription_id')
        # One more than is shown tells whether there is a next page.
        found, more = base.shown(self._parts.manager.list_subscriptions(caller, subscriptions.Query(
            project_id=None if everything else caller.project_id,
            user_id=None if everything else caller.user_id, limit=limit + 1, marker=marker,
            most_bytes=self._parts.conf.api.max_page_bytes)), limit)
        answer = {'subscriptions': [subscription_views.subscription(each) for each in found]}
        if more:
            answer['subscriptions_links'] = base.next_link(req, found[-1].id)
        return answer

    @pecan.expose('json')
    def post(self, req, resp):
        caller = self._authorized(req, rules.POST)
        asked, secret = subscription_body.request_of(req, self._parts.conf.api.max_body_bytes)
        made = self._parts.manager.create_subscription(caller, asked)
        resp.status = 201
        resp.headers['Location'] = f'{req.application_url}/v1/subscriptions/{made.id}'
        return _shown(req, resp, made, secret)

    @pecan.expose('json')
    def get_one(self, req, resp, subscription_id):
        return _shown(req, resp, self._visible(req, subscription_id, rules.GET))

    @pecan.expose('json')
    def put(self, req, resp, subscription_id):
        known = self._visible(req, subscription_id, rules.PUT)
        changes, secret = subscription_body.changes_of(
            req, self._parts.conf.api.max_body_bytes, known)
        changed = self._parts.manager.update_subscription(hooks.caller(req), known.id, changes)
        return _shown(req, resp, changed, secret)

    @pecan.expose('json')
    def delete(self, req, resp, subscription_id):
        known = self._visible(req, subscription_id, rules.DELETE)
        self._parts.manager.delete_subscription(hooks.caller(req), known.id)
        resp.status = 204

    def _authorized(self, req, rule):
        caller = hooks.caller(req)
        self._parts.policy.authorize(caller, rule, {
            'project_id': caller.project_id, 'user_id': caller.user_id,
            'scope': subscriptions.OWN})
        base.refuse_lenient(req, 'Subscriptions are served')
        return caller

    def _visible(self, req, subscription_id, rule):
        """Get a subscription on which the caller may do what a rule is about.

        :raises SubscriptionNotFound: it does not exist, or is hidden from this caller.
        :raises Forbidden: the caller may see it, but not do this.
        """
        caller = self._authorized(req, rules.GET)
        base.refuse_long(subscription_id, errors.SubscriptionNotFound, 'subscription_id')
        found = self._parts.manager.get_subscription(caller, subscription_id)
        target = {'project_id': found.project_id, 'user_id': found.user_id,
                  'scope': found.scope}
        if not self._parts.policy.allows(caller, rules.GET, target):
            raise errors.SubscriptionNotFound(subscription_id=subscription_id)
        self._parts.policy.authorize(caller, rule, target)
        return found


class TestController(base.Controller):
    """Sends a test to one subscription.

    :param visible: a function (request, id, rule) that returns the subscription.
    """

    def __init__(self, parts, visible):
        self._parts = parts
        self._visible = visible

    @pecan.expose('json')
    def post(self, req, resp, subscription_id):
        known = self._visible(req, subscription_id, rules.TEST)
        found = self._parts.manager.test_subscription(hooks.caller(req), known.id)
        resp.status = 202
        return _shown(req, resp, found)


class LogController(base.Controller):
    """Shows what was sent to one subscription, and how that went."""

    def __init__(self, parts, visible):
        self._parts = parts
        self._visible = visible

    @pecan.expose('json')
    def get_all(self, req, resp, subscription_id):
        known = self._visible(req, subscription_id, rules.GET)
        queries.refuse_unknown(req, ('limit', 'marker'))
        limit, marker = base.page(req, self._parts.conf.api.max_limit, _entry_id)
        found, more = base.shown(self._parts.manager.subscription_log(
            hooks.caller(req), known.id, marker, limit + 1,
            self._parts.conf.api.max_page_bytes), limit)
        answer = {'log': [subscription_views.entry(each) for each in found]}
        if more:
            answer['log_links'] = base.next_link(req, str(found[-1].id))
        return answer


class CalendarsController(base.Controller):
    """Shows a calendar by its secret address, without a token."""

    def __init__(self, parts):
        self._parts = parts

    @pecan.expose('json')
    def get_one(self, req, resp, secret_hash):
        found = self._parts.manager.get_calendar(hooks.caller(req), secret_hash)
        resp.content_type = 'text/calendar'
        resp.charset = 'utf-8'
        resp.headers['Cache-Control'] = 'private, max-age=300'
        resp.body = subscription_views.calendar(found)
        return resp


def _shown(req, resp, found, secret=None):
    address = None
    if secret is not None:
        resp.headers['Cache-Control'] = 'no-store'
        if found.transport == subscriptions.CALENDAR:
            address = f'{req.application_url}{calendar_paths.PREFIX}{secret}.ics'
    return {'subscription': subscription_views.subscription(found, secret, address)}


def _entry_id(text):
    """Parse the id of an entry of a log.

    :raises BadField: no entry can have this id.
    """
    number = base.row_number(text)
    if number is None:
        raise errors.BadField(field='marker', reason=(
            f'"{text[:40]}" is not the id of an entry of the log.'))
    return number
