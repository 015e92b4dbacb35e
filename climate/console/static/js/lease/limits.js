// SPDX-License-Identifier: Apache-2.0
// The limits that apply to a new lease, and the fields that a broken limit is about.

import {element, fill, make} from '../dom.js';
import {call} from '../rest.js';
import {t} from '../texts.js';
import {seconds, words} from '../times.js';

const OF_OFFERS = 'held_offers';
// It says something about the form only if the lease may wait.
const OF_WAITING = 'waiting_leases';
const LENGTH = 'lease_length';
const OF_START = new Set(['ahead', 'notice', 'pause']);
const OF_COUNT = new Set(['resources', 'pool_share']);
const DIGITS = 2;

/** The limits of the user, of which the form shows those that apply to what is chosen. */
export class Limits {
  constructor() { this.limits = []; }

  /** Load the limits and their use; a user who may not see them gets none. */
  async load() {
    const {body} = await call('/limits').catch(() => ({body: {limits: []}}));
    this.limits = body.limits;
  }

  /**
   * Show the limits that apply to a new lease.
   *
   * @param {Array} taken - {type, pools} of each reservation.
   * @param {boolean} waits - whether the lease may wait for its resources.
   */
  show(taken, waits) {
    const shown = this.limits.filter((limit) => limit.measure !== OF_OFFERS
      && (waits || limit.measure !== OF_WAITING)
      && taken.some(({type, pools}) => (!limit.resource_type || limit.resource_type === type)
        && (!limit.pool || pools.includes(limit.pool))));
    const place = element('limits');
    place.hidden = !shown.length;
    fill(place.querySelector('ul'), ...shown.map(line));
  }
}

function line(limit) {
  const isFull = limit.allowed === false || (limit.remaining !== null && limit.remaining <= 0);
  return make('li', {class: isFull ? 'full' : null}, limit.description,
    limit.allowed === false ? make('small', {}, t('limits.no_role')) : null,
    limit.used === null ? null : make('small', {}, useWords(limit)));
}

function useWords({used, most, until}) {
  const values = {used: short(used), most: short(most), until: until && words(seconds(until))};
  return t(until ? 'limits.used_until' : 'limits.used', values);
}

const short = (number) => String(Number(number.toFixed(DIGITS)));

/**
 * Return the names of the fields that a broken limit may be about, the best one first.
 *
 * @param {object} details - of the error; `measure` is that of the limit.
 * @param {boolean} hasEnd - whether the form has an end instead of a duration.
 */
export function fieldsOf({measure}, hasEnd) {
  if (measure === LENGTH) return [hasEnd ? 'end' : 'duration'];
  if (OF_START.has(measure)) return ['start'];
  return OF_COUNT.has(measure) ? ['min', 'amount'] : [];
}
