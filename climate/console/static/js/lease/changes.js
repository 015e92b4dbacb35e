// SPDX-License-Identifier: Apache-2.0
// Changes of a lease. Each is made only if the lease is still the one that was shown. Before servers
// or other objects are lost, each lists them and asks; it returns null if the user does not go on.

import {call} from '../rest.js';
import {iso} from '../times.js';
import {confirmed} from './losses.js';

const HARMLESS = ['name', 'while_free'];

/** Send a request, after a dry run of it whose losses the user accepts. */
async function send(path, request, asked) {
  const dryRun = () => call(path, {...request, query: {dry_run: 'true'}});
  return await confirmed(dryRun, asked) ? call(path, request) : null;
}

const unchanged = (etag) => (etag ? {'If-Match': etag} : {});

/**
 * Change a lease.
 *
 * @param {string} id
 * @param {object} body - as PUT /v1/leases/{id} takes it.
 * @param {?string} etag - the ETag of the lease that was shown; null: whatever it is now.
 * @param {object} asked - as for `confirmed`.
 * @returns {Promise<?object>} the lease.
 * @throws {Problem}
 */
export async function change(id, body, etag = null, asked = {}) {
  const path = `/leases/${id}`;
  const request = {method: 'PUT', body, headers: unchanged(etag)};
  const answer = Object.keys(body).every((name) => HARMLESS.includes(name))
    ? await call(path, request) : await send(path, request, asked);
  return answer && answer.body.lease;
}

export const endNow = (id, etag, asked) => change(id, {end: 'now'}, etag, asked);

export const moveEnd = (id, moment, etag, asked) => change(id, {end: iso(moment)}, etag, asked);

/** Swap a resource of a reservation for another one. */
export const swap = (id, {resource, reservation}, etag, asked) => send(`/leases/${id}/swap`, {
  method: 'POST', body: {resource, reservation}, headers: unchanged(etag)}, asked);

export const remove = (id, etag, asked) => send(`/leases/${id}`, {
  method: 'DELETE', headers: unchanged(etag)}, asked);
