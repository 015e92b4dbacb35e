# SPDX-License-Identifier: Apache-2.0
"""The tables and their indexes. Each module has the tables of one noun."""
from climate.db.tables.base import *  # noqa
from climate.db.tables.leases import *  # noqa
from climate.db.tables.maintenances import *  # noqa
from climate.db.tables.managers import *  # noqa
from climate.db.tables.resources import *  # noqa
from climate.db.tables.statements import *  # noqa
from climate.db.tables.subscriptions import *  # noqa
from climate.db.tables.usage import *  # noqa
