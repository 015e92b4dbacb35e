# SPDX-License-Identifier: Apache-2.0
"""Translation of criteria and durations for scripts, by the parsers of the command line."""
import argparse
import json

import flask

from climate.client import errors
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
    """Translate a duration as people write it, such as "1d12h", into seconds."""
    try:
        return {'seconds': int(times.span(flask.request.args.get('text', '')).total_seconds())}
    except errors.BadValue as error:
        return {'problem': str(error)}
