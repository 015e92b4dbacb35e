# SPDX-License-Identifier: Apache-2.0
"""The WSGI application `climate.api.wsgi:application`, for any WSGI server.

The environment variable CLIMATE_CONFIG_FILES names the configuration files, separated by colons.
By default oslo.config finds the files in its usual directories.
"""
# ruff: noqa: E402
from climate import extras

extras.require('service')

from climate import backend

backend.prefer_threads()

import os

from oslo_log import log

from climate import conf as configuration
from climate import version
from climate.api import app

LOG = log.getLogger(__name__)


def _build():
    files = os.environ.get('CLIMATE_CONFIG_FILES')
    conf = configuration.load([], 'climate-api',
                              files=files.split(os.pathsep) if files else None)
    configuration.set_up_logging(conf)
    built = app.build(conf)
    LOG.info('climate-api %s is ready in a WSGI server', version.text())
    return built


application = _build()
