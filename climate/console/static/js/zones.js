// SPDX-License-Identifier: Apache-2.0
// Pages come in UTC; here their times are written in the zone that the user has chosen.

import {exactWords, seconds, zoneName} from './times.js';

const CHANGED = 'zone';

/** Call a function whenever another zone was chosen. */
export const onZone = (action) => document.addEventListener(CHANGED, action);

/** Write all times of the page in the chosen zone, and say so to those who listen. */
export function zoneChanged() {
  showTimes();
  document.dispatchEvent(new CustomEvent(CHANGED));
}

/** Write the times of a part of the page in the chosen zone, and its name beside fields. */
export function showTimes(root = document) {
  for (const each of root.querySelectorAll('time[datetime]')) {
    each.textContent = exactWords(seconds(each.dateTime));
  }
  for (const each of root.querySelectorAll('.zone')) each.textContent = zoneName();
}
