# SPDX-License-Identifier: Apache-2.0
"""The use cases that are interrupted at every point, one module for each area."""
from stories import acquisition  # noqa: F401
from stories import addresses  # noqa: F401
from stories import base
from stories import hosts  # noqa: F401
from stories import instances  # noqa: F401
from stories import repairs  # noqa: F401
from stories import servers  # noqa: F401
from stories import usage  # noqa: F401

#: {name: Story} of all areas.
STORIES = base.STORIES
