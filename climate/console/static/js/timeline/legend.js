// SPDX-License-Identifier: Apache-2.0
// What the colours and the lines on the picture mean.

import {make} from '../dom.js';
import {t} from '../texts.js';
import {FILLS, fillOfOwner} from './styles.js';

const STATES = ['mine', 'booked', 'other', 'waiting', 'ended', 'attention'];
const ABSENCES = ['maintained', 'out', 'asleep'];
const MOST_OWNERS = 16;

/**
 * Show the legend.
 *
 * @param {HTMLElement} list
 * @param {Palette} palette
 * @param {string} by - '': states have colours; else owners have.
 * @param {Array<string>} owners - in the order of their colours.
 */
export function showLegend(list, palette, by, owners) {
  const of = owners.slice(0, MOST_OWNERS).map((owner, place) => (
    {word: owner, state: FILLS[fillOfOwner(place)]}));
  if (owners.length > MOST_OWNERS) {
    of.push({word: t('timeline.more_owners', {count: owners.length - MOST_OWNERS})});
  }
  if (by) of.push({word: t('timeline.kind.others'), state: 'other'});
  const states = (by ? ABSENCES : [...STATES, ...ABSENCES]).map(
    (state) => ({word: t(`timeline.legend.${state}`), state}));
  list.replaceChildren(...[...of, ...states].map(({word, state}) => {
    const sample = make('canvas', {width: 18, height: 14, 'aria-hidden': 'true'});
    if (state) palette.sample(sample, state);
    return make('li', {}, state ? sample : null, word);
  }));
}
