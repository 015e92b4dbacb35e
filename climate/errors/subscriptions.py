# SPDX-License-Identifier: Apache-2.0
"""Errors of subscriptions and calendars."""
from climate.errors import base


class SubscriptionNotFound(base.NotFound):
    code = 'subscription_not_found'
    template = 'Subscription {subscription_id} was not found.'


class CalendarNotFound(base.NotFound):
    code = 'calendar_not_found'
    template = ('No calendar has this address. If the address was renewed, use the new one.')


class TooManySubscriptions(base.LimitReached):
    code = 'too_many_subscriptions'
    limit = 'subscriptions_per_project'
    template = ('Your project has {most} subscriptions, the maximum: delete one, or ask your '
                'operator.')


class TooManyOwnSubscriptions(base.Conflict):
    code = 'too_many_own_subscriptions'
    template = ('You have {most} subscriptions in this project, the maximum of a user: delete one, '
                'or change one to what you need.')


class SubscriptionOff(base.Conflict):
    code = 'subscription_off'
    template = 'Subscription {subscription_id} {reason}'


class TestedTooOften(base.ClimateError):
    status = 429
    code = 'tested_too_often'
    template = ('Subscription {subscription_id} was tested just before: try again in {retry_after} '
                'seconds, or read its log.')
