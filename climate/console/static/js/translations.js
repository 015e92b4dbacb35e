// SPDX-License-Identifier: Apache-2.0
// Criteria and durations as people write them; the console on the server parses them.

import {callConsole} from './rest.js';

/** Translate "vcpus>=16 gpu=A100" into JSON text; return {criteria} or {problem}. */
export const criteria = (text) => answer('/criteria', text);

/** Translate "1d12h" into seconds; return {seconds} or {problem}. */
export const duration = (text) => answer('/durations', text);

const answer = (path, text) => callConsole(path, {text});
