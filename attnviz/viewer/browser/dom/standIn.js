// What stands in for a part of the page whose script comes late.

/** Stands in for what bring() resolves to. Its `waiting` elements have the names of the part's elements that replace them.
 * @param {() => Promise<any>} bring @param {Record<string, HTMLElement>} waiting */
export function makeStandIn(bring, waiting) {
  const latest = /** @type {Map<string, any[]>} */ (new Map()); // method -> arguments
  let part = /** @type {any} */ (null),
    coming = /** @type {Promise<any> | null} */ (null),
    hasEnded = false;
  /** @param {any} made */
  function arrive(made) {
    if (hasEnded) return made.end();
    part = made;
    for (const [name, element] of Object.entries(waiting)) element.replaceWith(part[name]);
    for (const [method, given] of latest) part[method](...given);
  }
  return {
    get part() {
      return part; // null until it is there
    },
    element: (/** @type {string} */ name) => part?.[name] ?? waiting[name],
    bring() {
      coming ??= bring().then(arrive, error => {
        coming = null; // the next call tries again
        throw error;
      });
      return coming;
    },
    // Calls a method of the part, or once the part is there, with the latest arguments.
    call(/** @type {string} */ method, /** @type {any[]} */ ...given) {
      latest.set(method, given);
      part?.[method](...given);
    },
    end() {
      hasEnded = true;
      part?.end();
    },
  };
}
