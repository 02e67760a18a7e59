// Plans: what a pass is but for its numbers, and the numbers of its parameters. The server sends the parts of each once, and
// after that its name.

const MAX_PLANS = 16; // plans that the server is told of
const KEPT_PLANS = 2 * MAX_PLANS; // it may have been told of one just before others came

// Returns {names, whole(answer)}: the plans that are here, and an answer with its pass as Document in generated/contract.d.ts.
export function makePlans() {
  const kept = new Map(); // name -> parts; the one that came last is the last
  const partsOf = ({ name, parts }) => {
    const found = parts ?? kept.get(name);
    if (!found) throw new Error(`The plan ${name} is not here.`);
    kept.delete(name);
    kept.set(name, found);
    if (kept.size > KEPT_PLANS) kept.delete(kept.keys().next().value);
    return found;
  };
  const wholeOf = ({ plan, parameters, ...rest }) => {
    const shared = [plan, parameters].filter(Boolean).map(partsOf); // a page has one plan, of all there is
    const made = [...shared, rest].reduce(merged),
      { beside } = rest; // which may have the same plans
    return beside ? { ...made, beside: { ...beside, document: wholeOf(beside.document) } } : made;
  };
  return {
    get names() {
      return [...kept.keys()].slice(-MAX_PLANS);
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
