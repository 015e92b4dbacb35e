// SPDX-License-Identifier: Apache-2.0
// The question before a lease and the following ones of its series are cancelled.

import {ask} from '../dialog.js';
import {make} from '../dom.js';
import {call} from '../rest.js';
import {t} from '../texts.js';
import {now, seconds, words} from '../times.js';

/**
 * Cancel the occurrences of a series from a number on; a lease that runs stays.
 *
 * @param {string} series - its id.
 * @param {number} number - of the first occurrence.
 * @returns {Promise<?object>} null: the user does not go on.
 */
export async function cancelFollowing(series, number) {
  const path = `/series/${series}`;
  const {body} = await call(path);
  const booked = body.series.occurrences.filter((each) => each.number >= number && each.lease_id
    && seconds(each.start) > now());
  const goesOn = await ask(t('series.cancel_question'), {
    yes: t('series.cancel'), danger: true, details: listOf(booked)});
  return goesOn ? call(path, {method: 'DELETE', query: {
    scope: 'following', occurrence: number}}) : null;
}

const listOf = (booked) => (booked.length
  ? make('ol', {class: 'dates', tabindex: 0, 'aria-label': t('series.dates')}, ...booked.map(
    ({number, start, end}) => make('li', {value: number},
      `${words(seconds(start))} – ${words(seconds(end))}`)))
  : make('p', {}, t('series.no_leases')));
