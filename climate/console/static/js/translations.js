// SPDX-License-Identifier: Apache-2.0
// Criteria, moments and durations as people write them; the console on the server parses them.

import {callConsole} from './rest.js';
import {zoneName} from './times.js';

/** Translate "vcpus>=16 gpu=A100" into JSON text; return {criteria} or {problem}. */
export const criteria = (text) => answer('/criteria', {text});

/** Translate "1.5h" into seconds; return {seconds} or {problem}. */
export const duration = (text) => answer('/durations', {text});

/**
 * Translate "tomorrow 9:00" in the chosen zone.
 *
 * @param {string} text
 * @param {?string} after - ISO text of the moment that a time of day follows; null: now.
 * @returns {Promise<object>} {moment, wire, note} or {problem}; "wire" is what is sent.
 */
export const moment = (text, after) => answer('/moments', {
  text, zone: zoneName(), ...(after ? {after} : {})});

/** Ask; a problem that is `passing` is not about the text: to ask again may help. */
async function answer(path, query) {
  try {
    return await callConsole(path, query);
  } catch (error) {
    return {problem: error.message, passing: true};
  }
}
