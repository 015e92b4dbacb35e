# SPDX-License-Identifier: Apache-2.0
"""The page of the timeline; its scripts ask for the visible part."""
import flask

from climate.console import rest

blueprint = flask.Blueprint('timeline', __name__)


@blueprint.get('/')
def show():
    return flask.render_template('timeline.html', pools=rest.pool_names())
