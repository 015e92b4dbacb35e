// SPDX-License-Identifier: Apache-2.0
// The dry run of a new lease, and its creation.

import {make} from '../dom.js';
import {call} from '../rest.js';
import {t} from '../texts.js';
import {seconds, words} from '../times.js';
import {priceWords} from './words.js';

// The keys of the requests of this page by their bodies: a repeated request makes no second lease.
const keys = new Map();

/**
 * Try a lease without making it.
 *
 * @param {object} body - as POST /v1/leases takes it.
 * @param {function(object): ?object} openingOf - returns from when on the lease can be extended,
 *   as Limits.openingOf does.
 * @returns {Promise<object>} nodes, which say what the lease would be; create, which creates it and
 *   returns the path of its page; yes, the word on the button; again, what to do without an answer.
 */
export async function triedLease(body, openingOf) {
  const answer = await call('/leases', {method: 'POST', body, query: {dry_run: 'true'}});
  return {nodes: resultOf(answer.body.lease, openingOf), create: () => create(body),
    yes: t('new.create'), again: t('new.again')};
}

function resultOf(lease, openingOf) {
  const waits = lease.status === 'in_progress';
  const opening = openingOf(lease);
  return [
    make('p', {}, waits ? t('new.would_wait') : t('new.fits', {
      start: words(seconds(lease.start)), end: words(seconds(lease.end))})),
    waits && lease.status_reason ? make('p', {}, lease.status_reason) : null,
    lease.price ? make('p', {class: 'price'}, priceWords(lease.price)) : null,
    opening && make('p', {}, t('new.extension_from', opening))];
}

async function create(body) {
  const text = JSON.stringify(body);
  if (!keys.has(text)) keys.set(text, crypto.randomUUID());
  const {body: {lease}} = await call('/leases', {
    method: 'POST', body, headers: {'Idempotency-Key': keys.get(text)}});
  return `/leases/${lease.id}`;
}
