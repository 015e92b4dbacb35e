// SPDX-License-Identifier: Apache-2.0
// Prices and refusals, in words.

import {make} from '../dom.js';
import {t} from '../texts.js';

/** Return a price, {amount, currency}, in words. */
export const priceWords = ({amount, currency}) => t('price', {amount, currency});

/** Return elements that say why a request was refused, beside its message. */
export function refusal({details}) {
  if (!details?.criteria?.length) return [];
  return [make('ul', {}, ...details.criteria.map((each) => make('li', {}, t('new.met_by', {
    criterion: each.criterion, count: each.met_by}))))];
}
