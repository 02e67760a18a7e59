// The answer to each moment, and whether it is shown, as long as the page is open.

const NOTHING = { answer: null, isShown: false };
const states = new Map(); // by the name of the moment

/** @returns {{answer: any, isShown: boolean}} */
export function answeredIn(name) {
  return states.get(name) ?? NOTHING;
}

// `answer` is null where nobody answered.
export function keepAnswer(name, answer) {
  states.set(name, { answer, isShown: true });
}

// The question is asked again.
export function coverAnswer(name) {
  states.delete(name);
}

export function forgetShown() {
  states.clear();
}
