# SPDX-License-Identifier: Apache-2.0
"""The console programs, which need the extra "service"."""
# ruff: noqa: E402
from climate import extras

extras.require('service')

from climate import backend

backend.prefer_threads()
