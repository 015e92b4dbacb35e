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

/** The limits of the user, and the rules of extensions, of which the form shows those that apply to what is chosen. */
export class Limits {
  constructor() {
    this.limits = [];
    this.extensions = [];
  }

  /** Load the limits and their use; a user who may not see them gets none. */
  async load() {
    const {body} = await call('/limits').catch(() => ({body: {limits: [], extensions: []}}));
    this.limits = body.limits;
    this.extensions = body.extensions;
  }

  /**
   * Show the limits that apply to a new lease.
   *
   * @param {Array} taken - {type, pools} of each reservation.
   * @param {boolean} waits - whether the lease may wait for its resources.
   */
  show(taken, waits) {
    const shown = this.limits.filter((limit) => limit.measure !== OF_OFFERS
      && (waits || limit.measure !== OF_WAITING) && applies(limit, taken));
    const rules = this.extensions.filter((rule) => applies(rule, taken));
    const place = element('limits');
    place.hidden = !shown.length && !rules.length;
    fill(place.querySelector('ul'), ...shown.map(line),
      ...rules.map((rule) => make('li', {}, t('limits.extension', {rule: rule.description}))));
  }

  /**
   * Return from when on the rules let a lease be extended.
   *
   * @param {Array} taken - as in `show`.
   * @param {object} lease - with its start and end.
   * @returns {?object} at, the moment in words, and rule, the name; null: no rule has a window.
   */
  openingOf(taken, lease) {
    const openings = this.extensions.filter((rule) => applies(rule, taken) && hasWindow(rule))
      .map((rule) => ({rule: rule.name, moment: opening(rule, lease)}))
      .sort((one, other) => other.moment - one.moment);
    return openings.length ? {rule: openings[0].rule, at: words(openings[0].moment)} : null;
  }
}

/** Return whether a limit or a rule applies to the resource types and pools of a lease. */
const applies = ({resource_type: wanted, pool}, taken) => taken.some(({type, pools}) => (
  !wanted || wanted === type) && (!pool || pools.includes(pool)));

const isGiven = (value) => value !== null && value !== undefined;

const hasWindow = (rule) => isGiven(rule.within_seconds) || isGiven(rule.within_percent);

/** Return the moment at which the last part of a lease begins, as the service computes it. */
function opening({within_seconds: within, within_percent: percent}, lease) {
  const [start, end] = [seconds(lease.start), seconds(lease.end)];
  const lengths = [...(isGiven(within) ? [within] : []),
    ...(isGiven(percent) ? [(end - start) * percent / 100] : [])];
  return Math.max(start, end - Math.min(...lengths));
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
