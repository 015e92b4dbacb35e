# SPDX-License-Identifier: Apache-2.0
"""Tell a project that a request was refused by one of its limits: once, not for each try."""
import datetime

from oslo_log import log

from climate import errors
from climate.db import engine
from climate.db import journal
from climate.db import limit_notices
from climate.manager import core as cores

LOG = log.getLogger(__name__)

#: The type of the notification.
EVENT_TYPE = 'project.limit'


def tell(core, project_id, error):
    """Put a notification of a LimitReached in the outbox, unless there was one not long ago.

    What fails here is logged: the caller gets the answer that he would get without it, and the
    next refusal is told instead.

    :returns: whether there is a new notification.
    """
    if project_id is None:
        return False
    try:
        return _tell(core, project_id, error, core.clock())
    except engine.Duplicate:
        LOG.debug('Another manager told project %s of %s', project_id, error.limit_name)
    except errors.ClimateError as failure:
        LOG.warning('Project %s is not told that it has reached %s: %s', project_id,
                    error.limit_name, failure.message)
    return False


@cores.again_after_a_race
def _tell(core, project_id, error, now):
    again = datetime.timedelta(hours=core.conf.notifications.limit_again_hours)
    with core.database.reader() as connection:
        if limit_notices.was_told(connection, project_id, error.limit_name, now - again):
            return False
    with core.database.writer() as connection:
        if not limit_notices.renew(connection, project_id, error.limit_name, now, now - again):
            return False
        # It belongs to no user, so all subscriptions of the project are told.
        journal.publish(connection, now, EVENT_TYPE, [{
            'project_id': project_id, 'limit': error.limit_name, 'message': error.owner_message}])
    LOG.info('Project %s has reached a limit: %s', project_id, error.limit_name)
    return True
