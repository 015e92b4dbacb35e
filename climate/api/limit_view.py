# SPDX-License-Identifier: Apache-2.0
"""Render reports of limits as JSON-ready dicts."""
from climate.api import times


def report(found):
    """Return a ``limit_reports.LimitReport`` as JSON-ready data."""
    return {'project_id': found.project_id, 'user_id': found.user_id, 'version': found.version,
            'limits': [_limit(limit) for limit in found.limits],
            'extensions': [dict(vars(rule)) for rule in found.extensions]}


def _limit(limit):
    return {**vars(limit), 'roles': list(limit.roles),
            'until': None if limit.until is None else times.shown(limit.until)}
