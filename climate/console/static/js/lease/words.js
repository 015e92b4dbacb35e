// SPDX-License-Identifier: Apache-2.0
// Prices and refusals, in words.

import {make} from '../dom.js';
import {t} from '../texts.js';

// The longest name of a lease.
const MOST_LETTERS = 80;

/** Return a name for the repetition of a lease: "training" becomes "training 2", "run 09" "run 10". */
export function nextName(name) {
  const [, first, digits] = /^(.*?)(\d*)$/s.exec(name);
  const next = digits ? String(BigInt(digits) + 1n).padStart(digits.length, '0') : ' 2';
  return first.slice(0, MOST_LETTERS - next.length) + next;
}

/** Return a price, {amount, currency}, in words. */
export const priceWords = ({amount, currency}) => t('price', {amount, currency});

/** Return elements that say why a request was refused, beside its message. */
export function refusal({details}) {
  if (!details?.criteria?.length) return [];
  return [make('ul', {}, ...details.criteria.map((each) => make('li', {}, t('new.met_by', {
    criterion: each.criterion, count: each.met_by}))))];
}
