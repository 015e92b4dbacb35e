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
    """Translate criteria as people write them, such as "vcpus>=16 gpu=A100", into JSON text."""
    text = flask.request.args.get('text', '').strip()
    if text.startswith('['):
        return {'criteria': text}
    try:
        conditions = [arguments.requirement(word) for word in text.split()]
    except argparse.ArgumentTypeError as error:
        return {'problem': str(error)}
    if len(conditions) > 1:
        conditions = [['and', *conditions]]
    return {'criteria': json.dumps(conditions[0]) if conditions else ''}


@blueprint.get('/durations')
def duration():
    """Translate a duration as people write it, such as "1d12h", into seconds."""
    try:
        return {'seconds': int(times.span(flask.request.args.get('text', '')).total_seconds())}
    except errors.BadValue as error:
        return {'problem': str(error)}
