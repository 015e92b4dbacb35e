# SPDX-License-Identifier: Apache-2.0
"""A link to Climate's console in Horizon's menu, beside the panel "Leases" of blazar-dashboard.

It belongs in openstack_dashboard/local/enabled. The setting CLIMATE_CONSOLE_URL of Horizon has the
address of the console; without it there is no link.
"""
from django.conf import settings
from django.utils.translation import gettext_lazy as _
import horizon

PANEL = 'climate_console'
PANEL_DASHBOARD = 'project'
PANEL_GROUP = 'reservations'
ADD_PANEL = f'{__name__}.Console'


class Console(horizon.Panel):
    """A panel without pages of its own."""

    name = _('Climate Console')
    slug = PANEL
    permissions = ('openstack.services.reservation',)

    @staticmethod
    def can_register():
        return bool(getattr(settings, 'CLIMATE_CONSOLE_URL', None))

    def get_absolute_url(self):
        return settings.CLIMATE_CONSOLE_URL
