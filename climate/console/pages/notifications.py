# SPDX-License-Identifier: Apache-2.0
"""The pages of notifications: the subscriptions, and the log of one."""
import itertools

import flask

from climate.console import rest

blueprint = flask.Blueprint('notifications', __name__, url_prefix='/notifications')

# The kinds that a subscription may name, those of a new one first.
_USUAL = ('start', 'end', 'error', 'waiting', 'idle', 'extension', 'limits', 'moved', 'sick',
          'maintenance')
_OTHERS = ('change', 'notify')
_MOST = 100


@blueprint.get('')
def show():
    """Show the subscriptions of the user and the project, and the forms for new ones."""
    client = rest.client()
    return flask.render_template(
        'notifications.html', usual=_USUAL, others=_OTHERS,
        subscriptions=rest.allowed(lambda: [*client.subscriptions.list()], []))


@blueprint.get('/<subscription_id>')
def log(subscription_id):
    """Show what was sent to a subscription, the newest first."""
    client = rest.client()
    subscription = client.subscriptions.get(subscription_id)
    entries = itertools.islice(client.subscriptions.log(subscription_id), _MOST + 1)
    return flask.render_template('notification_log.html', subscription=subscription,
                                 entries=[*entries], most=_MOST)
