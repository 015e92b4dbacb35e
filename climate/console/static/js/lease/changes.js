// SPDX-License-Identifier: Apache-2.0
// Changes of a lease. Each is made only if the lease is still the one that was shown.

import {call} from '../rest.js';
import {iso} from '../times.js';

/**
 * Change a lease.
 *
 * @param {string} id
 * @param {object} body - as PUT /v1/leases/{id} takes it.
 * @param {?string} etag - the ETag of the lease that was shown; null: whatever it is now.
 * @returns {Promise<object>} the lease.
 * @throws {Problem}
 */
export async function change(id, body, etag = null) {
  const answer = await call(`/leases/${id}`, {
    method: 'PUT', body, headers: etag ? {'If-Match': etag} : {}});
  return answer.body.lease;
}

export const endNow = (id, etag) => change(id, {end: 'now'}, etag);

export const moveEnd = (id, moment, etag) => change(id, {end: iso(moment)}, etag);

export const remove = (id) => call(`/leases/${id}`, {method: 'DELETE'});
