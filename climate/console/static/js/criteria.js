// SPDX-License-Identifier: Apache-2.0
// Criteria as people write them; the console on the server knows the language.

/** Translate "vcpus>=16 gpu=A100" into JSON text; return {criteria} or {problem}. */
export async function translate(text) {
  const answer = await fetch(`/criteria?${new URLSearchParams({text})}`);
  return answer.json();
}
