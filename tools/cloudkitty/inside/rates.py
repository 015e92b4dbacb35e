# SPDX-License-Identifier: Apache-2.0
"""Give CloudKitty its rates and the hour at which it begins: rates.py CONFIG RATES.

RATES is JSON: {"rates": {service: {field: {value: cost of a unit in a period}}}, "scopes": [id],
"after": the last hour that it leaves out}.
"""
import datetime
import json
import pathlib
import sys

from cloudkitty import service

service.prepare_service(['cloudkitty', '--config-file', sys.argv[1]])

# They read the options when they are imported.
from cloudkitty import storage_state  # noqa: E402
from cloudkitty.db import api  # noqa: E402
from cloudkitty.rating.hash.db import api as hashmap  # noqa: E402


def main():
    """Write the rates as mappings of the module "hashmap", and switch that on."""
    asked = json.loads(pathlib.Path(sys.argv[2]).read_text())
    rules = hashmap.get_instance()
    for name, fields in asked['rates'].items():
        of_service = rules.create_service(name)
        for field, costs in fields.items():
            found = rules.create_field(service_uuid=of_service.service_id, name=field)
            for value, cost in costs.items():
                rules.create_mapping(cost=cost, map_type='flat', value=value,
                                     field_id=found.field_id, start=_LONG_AGO, name=value,
                                     created_by='climate')
    api.get_instance().get_module_info().set_state('hashmap', True)
    state = storage_state.StateManager()
    for scope in asked['scopes']:
        state.set_last_processed_timestamp(
            scope, datetime.datetime.fromisoformat(asked['after']), collector='prometheus',
            fetcher='source', scope_key='project_id')


_LONG_AGO = datetime.datetime(2000, 1, 1)

if __name__ == '__main__':
    main()
