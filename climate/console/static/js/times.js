// SPDX-License-Identifier: Apache-2.0
// Moments as seconds since 1970, and their words. All are shown in UTC, as the service writes them.

export const MINUTE = 60;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;
export const YEAR = 365 * DAY;

const two = (number) => String(number).padStart(2, '0');

export const now = () => Date.now() / 1000;

/** Parse the ISO text of a moment. */
export const seconds = (text) => Date.parse(text) / 1000;

/** Return a moment as ISO text with full seconds. */
export const iso = (moment) => new Date(Math.round(moment) * 1000).toISOString()
  .replace('.000Z', 'Z');

/** Return a moment as "2030-05-01 08:00 UTC". */
export const words = (moment) => `${iso(moment).slice(0, 16).replace('T', ' ')} UTC`;

/** Return a duration in its two largest units, such as "1d 3h". */
export function duration(length) {
  let rest = Math.max(0, Math.round(length));
  const parts = [];
  for (const [unit, size] of [['d', DAY], ['h', HOUR], ['m', MINUTE], ['s', 1]]) {
    const count = Math.floor(rest / size);
    rest -= count * size;
    if (count) parts.push(`${count}${unit}`);
  }
  return parts.slice(0, 2).join(' ') || '0s';
}

/** Return the text of an <input type="datetime-local">, in UTC. */
export const local = (moment) => iso(moment).slice(0, 16);

export const timeOfDay = (moment) => {
  const date = new Date(moment * 1000);
  return `${two(date.getUTCHours())}:${two(date.getUTCMinutes())}`;
};
