// What the server sends: pooled data unpacked, templates merged with the numbers of a pass, and missing parts
// requested once.

const NAME = "$";

export function unpooled({ parts, whole }) {
  const made = [];
  const read = data => {
    if (Array.isArray(data)) return data.map(read);
    if (typeof data !== "object" || data === null) return data;
    if (NAME in data) return made[data[NAME]];
    return Object.fromEntries(Object.entries(data).map(([name, part]) => [name, read(part)]));
  };
  for (const part of parts) made.push(read(part));
  return read(whole);
}

// send(event, message) reaches the server.
export function makeRequestsOnce(send) {
  const open = new Map(); // event -> {message, isAnswered}
  return {
    // Asks, unless that was asked for last. `isAnswered(pass)` says whether a later pass has it.
    begin: (event, message, isAnswered) => {
      if (open.get(event)?.message === message) return;
      open.set(event, { message, isAnswered });
      send(event, message);
    },
    answered: pass => {
      for (const [event, { isAnswered }] of [...open]) if (isAnswered(pass)) open.delete(event);
    },
    forget: () => open.clear(),
  };
}

const MAX_TEMPLATES = 16; // templates that the server is told of
const KEPT_TEMPLATES = 2 * MAX_TEMPLATES; // it may have been told of one just before others came

// Returns {names, whole(answer)}: the templates that are here, and an answer with its pass as Document in generated/contract.d.ts.
export function makeTemplates() {
  const cache = new Map(); // name -> parts; the one that came last is the last
  const partsOf = ({ name, parts }) => {
    const found = parts ?? cache.get(name);
    if (!found) throw new Error(`The template ${name} is not here.`);
    cache.delete(name);
    cache.set(name, found);
    if (cache.size > KEPT_TEMPLATES) cache.delete(cache.keys().next().value);
    return found;
  };
  const wholeOf = ({ template, parameters, ...rest }) => {
    const shared = [template, parameters].filter(Boolean).map(partsOf); // a page has one template, of all there is
    const made = [...shared, rest].reduce(merged),
      { other } = rest; // which may have the same templates
    return other ? { ...made, other: { ...other, document: wholeOf(other.document) } } : made;
  };
  return {
    get names() {
      return [...cache.keys()].slice(-MAX_TEMPLATES);
    },
    whole: answer => {
      if (!answer.pass) return answer;
      return { ...answer, pass: wholeOf(answer.pass) };
    },
  };
}

function merged(one, other) {
  const shared = Object.keys(other).filter(name => isObject(one[name]) && isObject(other[name]));
  return { ...one, ...other, ...Object.fromEntries(shared.map(name => [name, merged(one[name], other[name])])) };
}

function isObject(value) {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
