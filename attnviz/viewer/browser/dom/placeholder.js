// A placeholder for a part of the page whose script loads later.

/** `elements` stand in the page until load() resolves to the part, whose elements of the same names replace them.
 * @param {() => Promise<any>} load @param {Record<string, HTMLElement>} elements */
export function makePlaceholder(load, elements) {
  const latest = /** @type {Map<string, any[]>} */ (new Map()); // method -> arguments
  let part = /** @type {any} */ (null),
    loading = /** @type {Promise<any> | null} */ (null),
    hasEnded = false;
  /** @param {any} loaded */
  function mount(loaded) {
    if (hasEnded) return loaded.end();
    part = loaded;
    for (const [name, element] of Object.entries(elements)) element.replaceWith(part[name]);
    for (const [method, values] of latest) part[method](...values);
  }
  return {
    get part() {
      return part; // null until it is there
    },
    element: (/** @type {string} */ name) => part?.[name] ?? elements[name],
    load() {
      loading ??= load().then(mount, error => {
        loading = null; // the next call tries again
        throw error;
      });
      return loading;
    },
    // Calls a method of the part, now or once it has loaded: then with the latest arguments.
    call(/** @type {string} */ method, /** @type {any[]} */ ...values) {
      latest.set(method, values);
      part?.[method](...values);
    },
    end() {
      hasEnded = true;
      part?.end();
    },
  };
}
