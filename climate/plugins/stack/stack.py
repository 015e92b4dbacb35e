# SPDX-License-Identifier: Apache-2.0
"""The plugin virtual:stack, in two forms: a stack created at the start, or an existing one."""
from oslo_config import cfg

from climate.plugins import forms
from climate.plugins.compute import capacity_audit
from climate.plugins.compute import capacity_end
from climate.plugins.compute import host_pool
from climate.plugins.stack import existing
from climate.plugins.stack import new
from climate.plugins.stack import parsing
from climate.plugins.stack import passwords

# Fields of a request that only the plugin uses.
_NOT_SHOWN = ('uses', 'room')


class StackPlugin(forms.SeveralForms):
    resource_type = 'virtual:stack'
    form_classes = (new.NewStack, existing.ExistingStack)
    pools = (host_pool.HostPool,)
    services = ('heat', 'nova', 'placement', 'neutron', 'cinder')
    leases_targets = True
    secret_fields = parsing.SECRET
    ends_servers = True
    target_kind = 'stack'
    schema = {
        'type': 'object',
        'description': 'A stack that is created at the start (template and more), or an existing '
                       'stack that is suspended until then (resource_id).',
        'properties': parsing.PROPERTIES,
        'additionalProperties': False,
    }
    example = {'template': {'heat_template_version': '2021-04-16', 'resources': {
        'word': {'type': 'OS::Heat::RandomString'}}}, 'on_end': 'delete'}
    options = (
        cfg.StrOpt('on_end', default='delete', choices=list(parsing.ENDINGS),
                   help='Default of "on_end" for a stack that was created for its lease. delete: '
                        'the stack is deleted. suspend: it is suspended. leave: it stays as it '
                        'is.'),
        cfg.StrOpt('on_end_existing', default='suspend', choices=list(parsing.ENDINGS),
                   help='Default of "on_end" for an existing stack. The values are those of the '
                        'option on_end.'),
        cfg.StrOpt('hold_room', default='required', choices=['required', 'preferred'],
                   help='Default of "hold_room": whether the servers of a stack must be placed on '
                        'enrolled hosts. required: a template that makes this impossible is '
                        'refused. preferred: with such a template, the lease reserves its time '
                        'only.'),
        cfg.IntOpt('create_minutes', default=60, min=0,
                   help='How long Heat may take to create a stack, in minutes. After that the '
                        'stack is deleted and, within the limits of [manager], created again. 0: '
                        'the limit of Heat.'),
    )

    @classmethod
    def form(cls, request):
        return new.NewStack if request.get('resource_id') is None else existing.ExistingStack

    @classmethod
    def asked(cls, request):
        return parsing.asked(request)

    def resolve(self, cloud, request, occasion):
        return parsing.resolve(self.conf[self.resource_type], cloud, request, occasion)

    def secret_texts(self, secrets):
        return passwords.of(secrets)

    def observe(self, cloud):
        return capacity_audit.observe(self.conf, cloud)

    def traces(self, observed):
        return capacity_audit.traces(self.conf, observed, self.resource_type)

    def clear(self, cloud, made_for, resources):
        capacity_end.clear(self.conf, cloud, made_for)

    @classmethod
    def fields(cls, reservation):
        request = {key: value for key, value in reservation.request.items()
                   if key not in _NOT_SHOWN}
        return {'stack_id': reservation.request['resource_id'],
                'stack_name': reservation.request['resource_name'],
                **request, **reservation.binding}
