# SPDX-License-Identifier: Apache-2.0
"""The paths /v1/subscriptions and /v1/calendars, from REST 1.1 on."""
import pecan

from climate import errors
from climate.api import calendar_paths
from climate.api import hooks
from climate.api import operations
from climate.api import queries
from climate.api import subscription_body
from climate.api import subscription_views
from climate.api.controllers import base
from climate.domain import subscriptions
from climate.policies import subscriptions as rules

_FILTERS = ('limit', 'marker', 'all_projects')
PATHS = {
    '/subscriptions': {
        'get': operations.operation('List subscriptions', query=[
            *operations.paging(), operations.flag('all_projects')]),
        'post': operations.operation('Create a subscription', subscription_body.CREATE[1], 201)},
    '/subscriptions/{id}': {
        'parameters': [operations.ID],
        'get': operations.operation('Show a subscription'),
        'put': operations.operation('Change a subscription, or renew its secret',
                                    subscription_body.UPDATE[1]),
        'delete': operations.operation('Delete a subscription', status=204)},
    '/subscriptions/{id}/test': {
        'parameters': [operations.ID],
        'post': operations.operation('Send a test notification to a subscription', status=202)},
    '/subscriptions/{id}/log': {
        'parameters': [operations.ID],
        'get': operations.operation('List the notifications that were sent to a subscription',
                                    query=operations.paging())},
    '/calendars/{id}': {
        'parameters': [operations.in_path(maxLength=140)],
        'get': operations.operation('Show a calendar by its secret, as iCalendar; needs no token')},
}


class SubscriptionsController(base.Controller):
    """Creates, lists, shows, changes, deletes and tests subscriptions."""

    since_1_1 = 'Subscriptions are served'

    def __init__(self, parts):
        super().__init__(parts)
        self.test = SubscriptionTestController(parts, self._visible)
        self.log = SubscriptionLogController(parts, self._visible)

    @pecan.expose('json')
    def get_all(self, req, resp):
        caller = self._own(req, rules.GET)
        queries.refuse_unknown(req, _FILTERS)
        everything = queries.flag(req, 'all_projects')
        if everything:
            self._parts.policy.authorize(caller, rules.ALL_PROJECTS)

        def fetch(marker, limit):
            base.refuse_long(marker or '', errors.SubscriptionNotFound, 'subscription_id')
            return self._parts.manager.list_subscriptions(caller, subscriptions.SubscriptionQuery(
                project_id=None if everything else caller.project_id,
                user_id=None if everything else caller.user_id, limit=limit, marker=marker,
                most_bytes=self._parts.conf.api.max_page_bytes))

        return self._page(req, 'subscriptions', fetch,
                          lambda items: list(map(subscription_views.subscription, items)))

    @pecan.expose('json')
    def post(self, req, resp):
        caller = self._own(req, rules.POST)
        request, secret = subscription_body.request_of(req, self._parts.conf.api.max_body_bytes)
        subscription = self._parts.manager.create_subscription(caller, request)
        base.created(req, resp, f'subscriptions/{subscription.id}')
        return _shown(req, resp, subscription, secret)

    @pecan.expose('json')
    def get_one(self, req, resp, subscription_id):
        return _shown(req, resp, self._visible(req, subscription_id, rules.GET))

    @pecan.expose('json')
    def put(self, req, resp, subscription_id):
        subscription = self._visible(req, subscription_id, rules.PUT)
        changes, secret = subscription_body.changes_of(
            req, self._parts.conf.api.max_body_bytes, subscription)
        changed = self._parts.manager.update_subscription(hooks.caller(req), subscription_id,
                                                          changes)
        return _shown(req, resp, changed, secret)

    @pecan.expose('json')
    def delete(self, req, resp, subscription_id):
        subscription = self._visible(req, subscription_id, rules.DELETE)
        self._parts.manager.delete_subscription(hooks.caller(req), subscription.id)
        resp.status = 204

    def _own(self, req, rule):
        """Return the caller if policy allows the request for subscriptions of the caller."""
        caller = hooks.caller(req)
        return self._authorized(req, rule, {
            'project_id': caller.project_id, 'user_id': caller.user_id,
            'scope': subscriptions.OWN})

    def _visible(self, req, subscription_id, rule):
        """Get a subscription for which a rule allows the request of the caller.

        :raises SubscriptionNotFound: the subscription does not exist, or the caller may not see it.
        :raises Forbidden: the caller may see the subscription, but the rule refuses the request.
        """
        caller = self._own(req, rules.GET)
        base.refuse_long(subscription_id, errors.SubscriptionNotFound, 'subscription_id')
        subscription = self._parts.manager.get_subscription(caller, subscription_id)
        target = {'project_id': subscription.project_id, 'user_id': subscription.user_id,
                  'scope': subscription.scope}
        if not self._parts.policy.allows(caller, rules.GET, target):
            raise errors.SubscriptionNotFound(subscription_id=subscription_id)
        self._parts.policy.authorize(caller, rule, target)
        return subscription


class SubscriptionTestController(base.SubController):
    """Sends a test to one subscription."""

    @pecan.expose('json')
    def post(self, req, resp, subscription_id):
        subscription = self._visible(req, subscription_id, rules.TEST)
        resp.status = 202
        return _shown(req, resp, self._parts.manager.test_subscription(
            hooks.caller(req), subscription.id))


class SubscriptionLogController(base.SubController):
    """Shows the deliveries to one subscription and their results."""

    @pecan.expose('json')
    def get_all(self, req, resp, subscription_id):
        subscription = self._visible(req, subscription_id, rules.GET)
        queries.refuse_unknown(req, ('limit', 'marker'))
        return self._page(
            req, 'log', lambda marker, limit: self._parts.manager.subscription_log(
                hooks.caller(req), subscription.id, marker, limit,
                self._parts.conf.api.max_page_bytes),
            lambda entries: list(map(subscription_views.entry, entries)), base.entry_id)


class CalendarsController(base.Controller):
    """Shows a calendar by its secret address, without a token."""

    @pecan.expose('json')
    def get_one(self, req, resp, secret_hash):
        calendar = self._parts.manager.get_calendar(hooks.caller(req), secret_hash)
        resp.content_type = 'text/calendar'
        resp.charset = 'utf-8'
        resp.headers['Cache-Control'] = 'private, max-age=300'
        resp.body = subscription_views.calendar(calendar)
        return resp


def _shown(req, resp, subscription, secret=None):
    address = None
    if secret is not None:
        resp.headers['Cache-Control'] = 'no-store'
        if subscription.transport == subscriptions.CALENDAR:
            address = f'{req.application_url}{calendar_paths.PREFIX}{secret}.ics'
    return {'subscription': subscription_views.subscription(subscription, secret, address)}
