# SPDX-License-Identifier: Apache-2.0
"""The tables and their indexes. Each module has the tables of one noun."""
from climate.db.tables.base import *  # noqa: F403
from climate.db.tables.enforcement import *  # noqa: F403
from climate.db.tables.leases import *  # noqa: F403
from climate.db.tables.limits import *  # noqa: F403
from climate.db.tables.maintenances import *  # noqa: F403
from climate.db.tables.managers import *  # noqa: F403
from climate.db.tables.owner_names import *  # noqa: F403
from climate.db.tables.resources import *  # noqa: F403
from climate.db.tables.series import *  # noqa: F403
from climate.db.tables.shares import *  # noqa: F403
from climate.db.tables.statements import *  # noqa: F403
from climate.db.tables.subscriptions import *  # noqa: F403
from climate.db.tables.transfers import *  # noqa: F403
from climate.db.tables.usage import *  # noqa: F403
