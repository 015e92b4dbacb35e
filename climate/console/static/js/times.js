// SPDX-License-Identifier: Apache-2.0
// Moments as seconds since 1970, and their words in the zone of the browser, or another one that the
// user has chosen. Texts of users are read on the server, see translations.js.

export const MINUTE = 60;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;
export const YEAR = 365 * DAY;

const UTC = 'UTC';
const KEY = 'climate.zone';
// No zone changes its offset more often.
const QUARTER = 15 * MINUTE;
const UNITS = [['d', DAY], ['h', HOUR], ['m', MINUTE], ['s', 1]];
const WEEKDAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'];

/** The name of the zone of the browser, such as "Europe/Berlin". */
export const ownZone = Intl.DateTimeFormat().resolvedOptions().timeZone;

let zone = remembered();
let format = formatOf(zone);
let offsets = new Map();

function remembered() {
  try {
    const name = localStorage.getItem(KEY) ?? ownZone;
    formatOf(name);
    return name;
  } catch {
    return ownZone;
  }
}

function formatOf(name) {
  return new Intl.DateTimeFormat('en-US', {timeZone: name, hourCycle: 'h23', year: 'numeric',
    month: 'numeric', day: 'numeric', hour: 'numeric', minute: 'numeric', second: 'numeric'});
}

/** Return the name of the chosen zone. */
export const zoneName = () => zone;

/** Choose a zone for this browser from now on. */
export function chooseZone(name) {
  zone = name;
  format = formatOf(zone);
  offsets = new Map();
  try {
    if (zone === ownZone) localStorage.removeItem(KEY);
    else localStorage.setItem(KEY, zone);
  } catch {
    // The choice is kept for this page only.
  }
}

/** Return how many seconds the chosen zone is before UTC at a moment. */
export function offset(moment) {
  if (zone === UTC) return 0;
  const at = Math.floor(moment / QUARTER) * QUARTER;
  if (!offsets.has(at)) {
    const part = Object.fromEntries(format.formatToParts(at * 1000)
      .map(({type, value}) => [type, Number(value)]));
    offsets.set(at, Date.UTC(part.year, part.month - 1, part.day, part.hour, part.minute,
      part.second) / 1000 - at);
  }
  return offsets.get(at);
}

export const now = () => Date.now() / 1000;

/** Parse the ISO text of a moment. */
export const seconds = (text) => Date.parse(text) / 1000;

/** Return a moment as ISO text in UTC with full seconds. */
export const iso = (moment) => new Date(Math.round(moment) * 1000).toISOString()
  .replace('.000Z', 'Z');

/** Return what a wall clock in the chosen zone shows, as seconds: "walls" below are such. */
export const wall = (moment) => moment + offset(moment);

/** Return the moment at which a wall clock shows a time: the first one, or null if it never does. */
function firstAt(shown) {
  for (const nearby of [shown - DAY, shown + DAY]) {
    const moment = shown - offset(nearby);
    if (wall(moment) === shown) return moment;
  }
  return null;
}

/** Return the moment at which a wall clock shows a time; if it skips it, that after the gap. */
export const atWall = (shown) => firstAt(shown) ?? shown - offset(shown - DAY);

/** Return the ISO text of a wall clock, without a zone. */
export const wallText = (moment) => iso(wall(moment)).slice(0, 19);

/** Return a moment as "2030-05-01 08:00 UTC", or "2030-05-01 10:00 UTC+2". */
export const words = (moment) => `${wallText(moment).slice(0, 16).replace('T', ' ')} `
  + `${offsetWord(moment)}`;

/** Return a moment as `words` does, with its seconds if it has some. */
export const exactWords = (moment) => (Math.round(moment) % MINUTE === 0 ? words(moment)
  : `${wallText(moment).replace('T', ' ')} ${offsetWord(moment)}`);

function offsetWord(moment) {
  const minutes = offset(moment) / MINUTE;
  if (minutes === 0) return UTC;
  const [hours, rest] = [Math.floor(Math.abs(minutes) / 60), Math.abs(minutes) % 60];
  return `UTC${minutes < 0 ? '-' : '+'}${hours}${rest ? `:${String(rest).padStart(2, '0')}` : ''}`;
}

/** Return a duration in its two largest units, such as "1d 3h". */
export const duration = (length) => exactDuration(length).match(/\d+\D/g).slice(0, 2).join(' ');

/** Return a duration with all its units, such as "1d1h15m", which is exactly this long. */
export function exactDuration(length) {
  let rest = Math.max(0, Math.round(length));
  const parts = UNITS.map(([unit, size]) => {
    const count = Math.floor(rest / size);
    rest -= count * size;
    return count ? `${count}${unit}` : '';
  });
  return parts.join('') || '0s';
}

/** Return a moment as a user may type it: "2030-05-01 10:00", with "UTC+2" if that comes twice. */
export const typed = (moment) => (atWall(wall(moment)) === moment && moment % MINUTE === 0
  ? local(moment).replace('T', ' ') : exactWords(moment));

/** Return a moment with its weekday and zone: "Wed 2030-05-01 10:00 UTC+2 (Europe/Berlin)". */
export const fullWords = (moment) => `${WEEKDAYS[new Date(wall(moment) * 1000).getUTCDay()]} `
  + `${exactWords(moment)}${zone === UTC ? '' : ` (${zone})`}`;

/** Return the text of an <input type="datetime-local"> in the chosen zone. */
export const local = (moment) => wallText(moment).slice(0, 16);

export const timeOfDay = (moment) => wallText(moment).slice(11, 16);
