# SPDX-License-Identifier: Apache-2.0
"""Trusts and hosts of Blazar's database that the cloud no longer has. Pure."""
from climate.db.blazar import imported_records
from climate.domain import lifecycle

_OTHER_USER = 'Configure in [keystone] the user as which Blazar logs in, and repeat the import.'


def missing_trusts(converted, trust_ids):
    """Return a Problem for each lease whose trust is gone; only one if all trusts are gone.

    :param converted: the ``imported_records.Conversion``.
    :param trust_ids: the ids of the trusts that Keystone shows to the user of Climate.
    """
    entrusted = [imported.lease for imported in converted.leases
                 if imported.lease.trust_id and imported.lease.state != lifecycle.TERMINATED]
    missing = [lease for lease in entrusted if lease.trust_id not in trust_ids]
    if len(missing) == len(entrusted) > 1:
        return [imported_records.Problem(
            f'the trusts of all {len(missing)} leases',
            'Keystone shows none of them to the user of Climate.',
            'The leases are imported, but Climate cannot act as their owners.', _OTHER_USER)]
    return [imported_records.Problem(
        f'lease {lease.id} ({lease.name}) of project {lease.project_id}',
        f'Keystone no longer has its trust {lease.trust_id}.',
        'It is imported. Climate starts and ends it as the user of Climate, and cannot create '
        'objects as its owner.',
        'If it needs them, ask its owner to create it again.') for lease in missing]


def missing_hosts(converted, names):
    """Return a Problem for each host that Nova does not have.

    :param names: the names of the hypervisors in Nova.
    """
    return [imported_records.Problem(
        f'host {resource.name}', 'Nova has no hypervisor of this name.',
        'It is imported, and its leases keep it.',
        'Delete it in Blazar, or start its nova-compute again.')
        for resource in converted.resources
        if resource.pool == imported_records.HOST and resource.name not in names]


def unchecked(what, error):
    """Return the Problem that trusts or hosts cannot be compared with the cloud."""
    return imported_records.Problem(
        what, f'The cloud cannot be asked: {error}', 'They are imported without a check.',
        'Correct [keystone] and repeat the import with --dry-run.')
