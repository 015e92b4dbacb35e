# SPDX-License-Identifier: Apache-2.0
"""The console programs."""
from climate import backend

backend.prefer_threads()
