# SPDX-License-Identifier: Apache-2.0
"""Translation of criteria, moments and durations for scripts, by the parsers of the commands."""
import argparse
import json

import flask

from climate import moments
from climate.client import errors
from climate.client import time_zones
from climate.client import times
from climate.client.commands import arguments

blueprint = flask.Blueprint('translations', __name__)


@blueprint.get('/criteria')
def criteria():
    """Translate criteria as people write them, such as "vcpus >= 16 gpu=A100", into JSON text."""
    return criteria_of(flask.request.args.get('text', '').strip())


def criteria_of(text):
    """Return {'criteria': JSON text}, or {'problem': why the text is malformed}."""
    try:
        found = _json(text) if text.startswith('[') else arguments.requirements(text)
    except argparse.ArgumentTypeError as error:
        return {'problem': str(error)}
    return {'criteria': json.dumps(found) if found else ''}


def _json(text):
    """Return criteria from JSON text.

    :raises ArgumentTypeError: the text is not JSON.
    """
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise argparse.ArgumentTypeError(
            f'It is not JSON: {str(error)[:80]}. Write ["==", "$gpu", "A100"], or gpu=A100.'
        ) from None


@blueprint.get('/durations')
def duration():
    """Translate a duration as people write it, such as "1.5h", into seconds."""
    try:
        return {'seconds': int(times.span(flask.request.args.get('text', '')).total_seconds())}
    except errors.BadValue as error:
        return {'problem': str(error)}


@blueprint.get('/moments')
def moment():
    """Translate a moment as people write it in their zone, such as "tomorrow 9:00".

    The query has the text, the zone, and "after" if the moment follows another one. The answer has
    the moment, the form that is sent to climate-api, and a note for the user.
    """
    given = flask.request.args
    try:
        after = times.moment(given['after'], times.utcnow()) if given.get('after') else None
        found = times.understand(given.get('text', ''), time_zones.named(given.get('zone', 'UTC')),
                                 after)
    except (errors.BadValue, moments.NotUnderstoodError) as error:
        return {'problem': str(error)}
    return {'moment': times.iso(found.at), 'wire': found.wire, 'note': found.note}
