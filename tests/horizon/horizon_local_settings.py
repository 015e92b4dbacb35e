# SPDX-License-Identifier: Apache-2.0
"""The local_settings.py of the Horizon under test; the environment has what differs."""
import os

DEBUG = False
ALLOWED_HOSTS = ['127.0.0.1']
SECRET_KEY = 'of-a-throw-away'
WEBROOT = '/'
OPENSTACK_KEYSTONE_URL = os.environ['HORIZON_TEST_KEYSTONE']
STATIC_ROOT = os.environ['HORIZON_TEST_STATIC']
# Neither memcached nor a database.
SESSION_ENGINE = 'django.contrib.sessions.backends.signed_cookies'
CACHES = {'default': {'BACKEND': 'django.core.cache.backends.locmem.LocMemCache'}}
COMPRESS_OFFLINE = True
