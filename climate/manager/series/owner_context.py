# SPDX-License-Identifier: Apache-2.0
"""The identity of the owner of a series, for work that no request of the owner started."""
from climate import context


def of(core, series):
    """Return a RequestContext of the owner with a token from the trust of a series.

    :raises TrustDead: the series has no trust, or Keystone issues no token for it any more.
    """
    token = core.cloud.as_user(series.trust_id).keystone.own_token()
    roles = core.cloud.as_service().keystone.roles_of_trust(series.trust_id)
    return context.RequestContext(
        user_id=series.user_id, project_id=series.project_id, roles=sorted(roles),
        auth_token=token, trust_id=series.trust_id, overwrite=False)


def without_token(series):
    """Return a RequestContext of the owner that calls no service of the cloud."""
    return context.RequestContext(user_id=series.user_id, project_id=series.project_id,
                                  overwrite=False)
