// Unpacks what the server sends: pooled data, templates merged with the numbers of a pass. Requests missing parts once.

const NAME = "$";

export function unpool(/** @type {{ parts: any[], whole: any }} */ { parts, whole }) {
  const made = /** @type {any[]} */ ([]);
  /** @type {(data: any) => any} */
  const read = data => {
    if (Array.isArray(data)) return data.map(read);
    if (typeof data !== "object" || data === null) return data;
    if (NAME in data) return made[data[NAME]];
    return Object.fromEntries(Object.entries(data).map(([name, part]) => [name, read(part)]));
  };
  for (const part of parts) made.push(read(part));
  return read(whole);
}

/** send(event, message) sends a request to the server. @param {(event: string, message: any) => unknown} send */
export function makeRequestsOnce(send) {
  const open = new Map(); // event -> {message, isAnswered}
  return {
    // Sends a request unless it equals the pending one. `isAnswered(pass)` says whether a pass has what was requested.
    begin: (
      /** @type {string} */ event,
      /** @type {any} */ message,
      /** @type {(pass: Pass) => boolean} */ isAnswered,
    ) => {
      if (open.get(event)?.message === message) return;
      open.set(event, { message, isAnswered });
      send(event, message);
    },
    answered: (/** @type {Pass} */ pass) => {
      for (const [event, { isAnswered }] of [...open]) if (isAnswered(pass)) open.delete(event);
    },
    forget: () => open.clear(),
  };
}

const MAX_TEMPLATES = 16; // names sent to the server
const KEPT_TEMPLATES = 2 * MAX_TEMPLATES; // the server may still refer to one whose name was sent earlier

/** Completes what the server sends. Returns {names, complete(answer), completeDocument(document), completeMoment(moment)}; `names` are those of
 * the templates kept. @returns {Templates} */
export function makeTemplates() {
  const cache = new Map(); // name -> parts, the latest last
  const partsOf = (/** @type {{ name: string, parts: any }} */ { name, parts }) => {
    const found = parts ?? cache.get(name);
    if (!found) throw new Error(`The template ${name} is not here.`);
    cache.delete(name);
    cache.set(name, found);
    if (cache.size > KEPT_TEMPLATES) cache.delete(cache.keys().next().value);
    return found;
  };
  /** @type {Templates["completeDocument"]} */
  const completeDocument = ({ template, parameters, ...rest }) => {
    const shared = [template, parameters].filter(Boolean).map(partsOf), // a page of the site has a single template and no parameters
      made = [...shared, rest].reduce(merged),
      { other } = rest; // pass A of a pair
    return other ? { ...made, other: { ...other, document: completeDocument(other.document) } } : made;
  };
  return {
    get names() {
      return [...cache.keys()].slice(-MAX_TEMPLATES);
    },
    completeDocument,
    completeMoment: moment => ({ ...moment, document: moment.document && completeDocument(moment.document) }),
    complete: answer => (answer.pass ? { ...answer, pass: completeDocument(answer.pass) } : answer),
  };
}

/** @param {any} one @param {any} other @returns {any} */
function merged(one, other) {
  const shared = Object.keys(other).filter(name => isObject(one[name]) && isObject(other[name]));
  return { ...one, ...other, ...Object.fromEntries(shared.map(name => [name, merged(one[name], other[name])])) };
}

/** @param {unknown} value */
const isObject = value => typeof value === "object" && value !== null && !Array.isArray(value);
