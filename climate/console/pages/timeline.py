# SPDX-License-Identifier: Apache-2.0
"""The page of the timeline; scripts ask for what is in sight."""
import flask

from climate.console import rest
from climate.console.pages import pools

blueprint = flask.Blueprint('timeline', __name__)


@blueprint.get('/')
def show():
    return flask.render_template('timeline.html', pools=pools.names(rest.client()))
