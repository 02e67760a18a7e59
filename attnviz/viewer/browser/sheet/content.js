// Content: what the sheet shows of where one looks: its bands with their slots, those of pass A beside them, and how their cells
// are painted.
import { sharedLimit } from "../picture/face.js";
import { isSheet, sourceAt, sourceBands, standing, stepAt } from "../scene/state.js";
import { partsOf, slotted } from "./bandParts.js";
import { pairedParts } from "./pairParts.js";

// {pass, where, look, attention, source, selection, other, slots, all, paint}: `other` is pass A with its own {slots}, null where no
// sheet of it stands there; `all` are the slots of both whose numbers need room.
export function contentOf({ pass, where, look }, acts, isBare) {
  const { attention } = stepAt(pass, where),
    source = sourceAt(pass, where),
    selection = source?.word === "key" ? { ...where.cell, query: where.cell.key } : where.cell,
    a = otherIn(look, acts, isBare),
    bands = bandsIn({ pass, where, look }, source, a, isBare);
  const slots = slotted(pass, { selection, attention }, bands),
    other = a && { ...a, slots: slotsOfOther(a, bands, pass) },
    ofB = slots.flatMap(({ cells, left, right }) => [cells, left, right]).filter(Boolean);
  const paint = {
    pass,
    where,
    isApart: look.pair?.isApart,
    look: source ? { ...look, shown: () => true } : look,
    colours: look.colours,
    limit: sharedLimit(ofB, look),
    before: other ? () => undefined : beforeOf(pass),
    isBare,
  };
  const all = [...ofB, ...(other?.slots ?? []).map(({ cells }) => cells)];
  return { pass, where, look, attention, source, selection, other, slots, all, paint };
}

// The parts of some content that have so much room (see bandParts.js); in hand those of B alone.
export function partsIn({ pass, source, other, slots, paint }, { opened, room, brought, isHeld }) {
  const parts = partsOf(pass, { opened, room, brought }, slots).map(part => ({ ...part, isTraced: Boolean(source) }));
  if (!other || source || isHeld) return parts;
  const others = partsOf(other.pass, { opened, room, brought: [] }, other.slots);
  return pairedParts(pass, parts, others, { acts: other.acts, paint: other.paint, paintB: paint, opened });
}

// Pass A where its sheet stands beside that of B: {pass, where, selection, attention, paint, acts}; null where there is none.
function otherIn({ pair, colours }, acts, isBare) {
  if (!pair?.isThere || !isSheet(pair.pass, pair.where)) return null;
  const { pass, where, look, toB } = pair;
  const inB = act => (name, index) => {
    const cell = index && toB(name, index);
    if (cell || !index) act(name, cell);
  };
  const isApart = (name, index) => {
    const cell = toB(name, index);
    return cell !== null && pair.isApart(name, cell);
  };
  return {
    pass,
    where,
    selection: where.cell,
    attention: stepAt(pass, where).attention,
    paint: { pass, where, look, colours, limit: 1, before: () => undefined, isBare, isApart },
    acts: { ...acts, pick: inB(acts.pick), point: inB(acts.point), edit: () => {} },
  };
}

function bandsIn({ pass, where, look }, source, a, isBare) {
  const isReplaced = ({ band: { array, cells } }) => array && look.titleOf(cells.stage); // by slopes, say, which it has none of
  const ofB = source ? sourceBands(pass, where, source) : standing(pass, where),
    isOnePage = a && stepAt(a.pass, a.where).page === stepAt(pass, where).page; // which it isn't where only B goes by blocks
  const bands = isOnePage && !source ? withThoseOfA(ofB, standing(a.pass, a.where), pass) : ofB;
  return bands.filter(each => !isReplaced(each) && (each.isThere || !isBare));
}

// The bands of B, and those that A's sheet alone has of stages of both, as of scores that only A scales.
function withThoseOfA(bands, ofA, pass) {
  const nameOf = ({ band: { cells, array } }) => `${cells.stage} ${array}`,
    all = [...bands];
  for (const [place, each] of ofA.entries()) {
    if (all.some(other => nameOf(other) === nameOf(each)) || !pass.stages.has(each.band.cells.stage)) continue;
    const before = place ? all.findIndex(other => nameOf(other) === nameOf(ofA[place - 1])) : -1;
    all.splice(before + 1, 0, each);
  }
  return all;
}

function slotsOfOther(a, bands, pass) {
  const inBoth = bands.filter(({ band }) => canStand(a.pass, pass, band));
  return slotted(a.pass, a, inBoth);
}

// Whether another pass has the stages of a band, with as many axes.
function canStand(other, pass, { cells, left, right }) {
  return [cells, left, right]
    .filter(Boolean)
    .every(({ stage }) => other.stages.get(stage)?.axes.length === pass.stages.get(stage).axes.length);
}

// The old value of a number, before any was set by hand; undefined where it did not move.
/** @param {Pass} pass */
function beforeOf(pass) {
  const { before } = pass.document,
    old = pass.with(before);
  return (name, index) => (Object.hasOwn(before, name) ? old.number(name, index) : undefined);
}
