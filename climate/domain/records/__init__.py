# SPDX-License-Identifier: Apache-2.0
"""The frozen records that all layers use, one noun in each module."""
from climate.domain.records.lease_requests import *  # noqa: F403
from climate.domain.records.leases import *  # noqa: F403
from climate.domain.records.offers import *  # noqa: F403
from climate.domain.records.reservations import *  # noqa: F403
from climate.domain.records.resources import *  # noqa: F403
