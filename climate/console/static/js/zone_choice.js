// SPDX-License-Identifier: Apache-2.0
// The choice of the time zone in the bar above each page: that of the browser, UTC, or any other.

import {element} from './dom.js';
import {chooseZone, ownZone, zoneName} from './times.js';
import {showTimes, zoneChanged} from './zones.js';

const select = element('zone');
for (const name of new Set([ownZone, 'UTC', zoneName(), ...Intl.supportedValuesOf('timeZone')])) {
  select.add(new Option(name));
}
select.value = zoneName();
select.closest('label').hidden = false;
select.addEventListener('change', () => {
  chooseZone(select.value);
  zoneChanged();
});
showTimes();
