# SPDX-License-Identifier: Apache-2.0
"""Horizon's WSGI application with its static files, which a web server has before it otherwise."""
from django.contrib.staticfiles import handlers
from openstack_dashboard import wsgi

application = handlers.StaticFilesHandler(wsgi.application)
