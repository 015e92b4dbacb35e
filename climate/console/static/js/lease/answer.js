// SPDX-License-Identifier: Apache-2.0
// What would fit: counts, times and alternatives to click.

import {element, make} from '../dom.js';
import {t} from '../texts.js';
import {duration as inWords, now, seconds, words} from '../times.js';
import {typeWord} from './reservation_cards.js';
import {priceWords} from './words.js';

// A start this near counts as now.
const NOW_SECONDS = 90;

export const isNow = (start) => seconds(start) <= now() + NOW_SECONDS;

/**
 * Show an answer of GET /v1/availability.
 *
 * @param {object} answer
 * @param {object} actions - takeStart(iso) and takeAlternative(alternative), for clicks.
 */
export function showAnswer({considered, offers, reasons, alternatives}, actions) {
  element('counts').replaceChildren(...considered.map(countLine));
  element('hold').hidden = !offers.length;
  const button = (action, ...children) => make('li', {}, make('button', {
    type: 'button', class: 'offer', onclick: action}, ...children));
  element('offers').replaceChildren(
    ...reasons.map((each) => make('li', {}, each)),
    ...offers.map((offer) => button(() => actions.takeStart(offer.start), ...offerWords(offer))),
    ...alternatives.map((each) => button(() => actions.takeAlternative(each),
      alternativeWords(each))));
}

/** Show no answer, because the form has an error. */
export function showNoAnswer() {
  element('counts').replaceChildren();
  element('offers').replaceChildren();
  element('hold').hidden = true;
}

function countLine(each) {
  return make('li', {}, t('new.counts', {
    type: typeWord(each.resource_type), enrolled: each.enrolled, matching: each.matching,
    free: each.free_at_earliest}), each.criteria.length ? make('ul', {}, ...each.criteria.map(
    (one) => make('li', {}, t('new.met_by', {
      criterion: one.criterion, count: one.met_by})))) : null);
}

function offerWords(offer) {
  return [make('strong', {}, isNow(offer.start) ? t('new.now') : words(seconds(offer.start))),
    ` – ${words(seconds(offer.end))} · `, offer.reservations.map(countWords).join(', '),
    offer.price ? make('span', {class: 'price'}, priceWords(offer.price)) : null];
}

function countWords({count, resource_type: type}) {
  const one = t(`one.${type}`);
  return `${count} × ${count === 1 && one !== `one.${type}` ? one : typeWord(type)}`;
}

function alternativeWords(each) {
  if (each.kind === 'shorter') return t('new.shorter', {length: inWords(each.duration)});
  if (each.kind === 'later') return t('new.later', {start: words(seconds(each.start))});
  return t('new.fewer', {counts: each.counts.join(', ')});
}
