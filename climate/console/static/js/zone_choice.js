// SPDX-License-Identifier: Apache-2.0
// The choice of the time zone in the bar above each page.

import {element} from './dom.js';
import {chooseZone, fromLocal, local, ownZone, zoneName} from './times.js';
import {showTimes, zoneChanged} from './zones.js';

/** Return the fields for moments with the moments that they have now. */
function moments() {
  return [...document.querySelectorAll('input[type=datetime-local]')].flatMap((input) => {
    try {
      return input.value ? [[input, fromLocal(input.value, String)]] : [];
    } catch {
      return [];
    }
  });
}

const select = element('zone');
if (ownZone !== 'UTC') select.add(new Option(ownZone));
select.value = zoneName();
select.closest('label').hidden = false;
select.addEventListener('change', () => {
  const held = moments();
  chooseZone(select.value);
  for (const [input, moment] of held) input.value = local(moment);
  zoneChanged();
});
showTimes();
