// Bands: what the sheet of the selected word shows at a step: the step's own bands, and those before it on the same page.

// Whether the sheet is there. A step that adds nothing to it is shown as it is for all words.
/** @param {Pass} pass @param {Where} where */
export function isSheet(pass, where) {
  return isOfSheet(pass, where) && pass.document.steps.find(({ id }) => id === where.step).bands.length > 0;
}

// The step that one sees who presents the sheet: the next of the walk, or its last.
/** @param {Pass} pass @param {Where} where */
export function presentedStep(pass, where) {
  const { steps } = pass.document,
    at = steps.findIndex(({ id }) => id === where.step);
  if (!where.present || !isOfSheet(pass, where)) return where.step;
  const walk = walkOf(pass, where);
  return steps.slice(at).find(({ id }) => walk.includes(id))?.id ?? walk.at(-1);
}

// Whether a pass has a sheet.
/** @param {Pass} pass */
export function hasSheet({ document: { steps } }) {
  return steps.some(({ bands }) => bands.length);
}

// Whether one looks at the sheet of a pass, in whatever step.
export function isOfSheet(pass, { view }) {
  return view === "sheet" && hasSheet(pass);
}

// The ids of the steps that one walks through: on the sheet the first of all, those with bands, and where nobody presents the
// last of all.
/** @param {Pass} pass @param {Where} where */
export function walkOf(pass, where) {
  const { steps } = pass.document,
    isOfBands = isOfSheet(pass, where),
    ends = where.present ? [steps[0]] : [steps[0], steps.at(-1)];
  return steps.filter(step => !isOfBands || step.bands.length || ends.includes(step)).map(({ id }) => id);
}

// The pages of the sheet in their order, each by the last step with bands on it: by then all of them are there. How the first
// query is made is none of them: on paper queries, keys and values are given.
/** @param {Pass} pass */
export function pagesOf({ document: { steps } }) {
  return [
    ...new Map(
      steps.filter(({ bands, page }) => bands.length && !page.startsWith("query")).map(step => [step.page, step]),
    ).values(),
  ];
}

// The number of the layer that a page is of, as it is named.
export function layerOfPage(page) {
  return Number(page.split("-").at(-1));
}

// The number of reveals of a step, and the one in which each of its bands comes to light: its rows in the first, what they add
// up to in the last. Numbers that are multiplied stand there before their sum, and what has no sentence comes with the next.
export function revealsOfBands({ bands }) {
  let count = 0;
  const places = bands.map((band, place) => {
    const isAfterProducts = band.factors && place === 0,
      first = isAfterProducts ? count + 1 : count;
    const last = isSummed(band) ? first + 1 : first;
    if (band.sentence.length) count = last + 1;
    return { first, last };
  });
  return { count, places };
}

// Whether each of its rows adds up to a number at its right.
function isSummed({ right }) {
  return right !== null && right.columns === null;
}

// The page of the sheet that one is on: its bands in order, and how far each has come: {step, band, isThere, isWhole, isLit,
// multiplies}. `isThere` are its rows, `isWhole` is what they add up to; where it `multiplies`, its products are written.
/** @param {Pass} pass @param {Where} where */
export function standing(pass, where) {
  const { steps } = pass.document,
    now = steps.findIndex(({ id }) => id === where.step);
  const onPage = steps.flatMap((step, at) => {
    if (step.page !== steps[now].page) return [];
    const { count, places } = revealsOfBands(step),
      reached = at < now ? count : at > now ? -1 : (where.reveal ?? count);
    return step.bands.map((band, place) => ({
      step,
      band,
      isThere: reached >= places[place].first,
      isWhole: reached >= places[place].last,
    }));
  });
  const isNow = each => each?.step.id === where.step;
  // Until its sum is there. Keys have had their sentence by then: their products stay as long as one looks at the scores.
  const isMultiplied = (each, next) =>
    next?.band.factors
      ? isNow(next) && (!isNow(each) || !next.isWhole)
      : isSummed(each.band) && isNow(each) && !each.isWhole;
  const lit = onPage.findLast(({ isThere }) => isThere);
  return onPage.map((each, place) => ({
    ...each,
    isLit: each === lit,
    multiplies: isMultiplied(each, onPage[place + 1]),
  }));
}

// The stages of that page that are still to come. One that stands in several bands is there with the first of them.
export function toCome(pass, where) {
  const onPage = standing(pass, where),
    drawn = new Set(onPage.filter(({ isThere, band }) => isThere && !band.array).map(({ band }) => band.cells.stage));
  return new Set(
    onPage.flatMap(({ band: { cells, array, right }, isThere, isWhole }) => [
      ...(isThere || array || drawn.has(cells.stage) ? [] : [cells.stage]),
      ...(isWhole || !right ? [] : [right.stage]),
    ]),
  );
}

// The stages that one sees on it, and where what stands there is from, as far as it is unfolded.
export function stagesOn(pass, where) {
  const source = sourceAt(pass, where);
  return new Set(
    [...standing(pass, where), ...(source ? sourceBands(pass, where, source) : [])].flatMap(
      ({ band: { left, cells, right, leftover } }) => [left, cells, right, leftover].flatMap(slot => slot?.stage ?? []),
    ),
  );
}

// Where the numbers of a band of that page are from, which one asks as where.from: {name, word, heading, formula, bands}; null if
// nobody asks.
/** @param {Pass} pass @param {Where} where */
export function sourceAt(pass, where) {
  return (isSheet(pass, where) && sourcesOn(pass, where).sources.find(({ name }) => name === where.from)) || null;
}

// Its bands, all there.
export function sourceBands(pass, where, { bands }) {
  const step = sourcesOn(pass, where);
  return bands.map(band => ({
    step,
    band,
    isThere: true,
    isWhole: true,
    isLit: false,
    multiplies: band.left !== null,
  }));
}

/** @param {Pass} pass */
function sourcesOn({ document: { steps } }, where) {
  const { page } = steps.find(({ id }) => id === where.step);
  return steps.find(step => step.page === page && step.sources.length) ?? { sources: [] };
}
