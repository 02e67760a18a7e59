// The standpoint: the pass that is shown, where one is in it, and the ways elsewhere in it.
import { afterFrame } from "../elements/afterFrame.js";
import { isNarrowFrame } from "../elements/narrow.js";
import { onceSettled } from "../elements/onceSettled.js";
import { hasView, isOfSamePass, readPlace, revealsOf, searchAt } from "../scene/address.js";
import { makePlay } from "../scene/route.js";
import { destinationOf } from "../scene/present.js";
import { atStep, carried, fitted } from "../scene/state.js";

const SETTLED_MS = 200; // held keys lead through more places than browsers let an address be written (Safari: 100 in 30 s)

// `address` is that of the page, `left` where an earlier viewer was left; render() draws where one is, tell() tells a class of it.
// Returns {now(), play, go(parts), through(parts), lead(at), willPresent(), show(pass), follow(), left()}: now() gives {pass, where, part}, of
// which the last is how far Play is in a reveal.
export function makeStandpoint(address, left, { render, tell }) {
  let pass = /** @type {Pass} */ (null),
    where = /** @type {Where} */ (null),
    part = null;
  let chosen = left; // where somebody went last, in which document: what is typed on the way to other words may lack those picked

  const stand = place => {
    const at = fitted(pass, place);
    where = { ...at, reveal: at.reveal < revealsOf(pass, at).length ? at.reveal : null };
  };
  const choose = place => {
    stand(place);
    chosen = { document: pass.document, where };
  };
  // A frame too narrow for the digits of all words begins with those of one.
  const inFrame = place => (isNarrowFrame(window) && !hasView(address.read()) ? { ...place, view: "sheet" } : place);
  const write = isNewPlace => {
    address.write(searchAt(pass, where, address.read()), isNewPlace);
    tell();
  };
  const settled = onceSettled(() => write(false), SETTLED_MS);
  const stop = () => {
    play.end();
    part = null;
  };
  const goTo = parts =>
    choose({ ...where, ...(parts.step && parts.step !== where.step ? atStep(pass, where, parts.step) : {}), ...parts });
  const play = makePlay(
    tick => {
      part = tick.part;
      goTo({ step: tick.step ?? where.step, reveal: tick.reveal });
      tell();
      render();
    },
    () => {
      if (!play.isRunning) write(false);
      render();
    },
  );
  return {
    now: () => ({ pass, where, part }),
    play,
    go(parts) {
      const { step } = where;
      settled.now();
      stop();
      goTo(parts);
      write(where.step !== step);
      render();
    },
    // Goes where one may not stay: the address, and a class, are told once one does.
    through(parts) {
      stop();
      goTo(parts);
      render();
      settled.soon();
    },
    // Goes where another device of the speaker's has led the class, where that is in this pass.
    lead(at) {
      if (!isOfSamePass(`?${at}`, address.read())) return false;
      stop();
      choose({ ...readPlace(pass, `?${at}`), present: where.present });
      write(false);
      render();
      return true;
    },
    // The next pass is presented.
    willPresent() {
      chosen = { document: pass.document, where: { ...where, ...destinationOf(pass, where, "present") } };
    },
    show(next) {
      pass = next;
      const { document } = pass;
      if (chosen?.document.arrival === document.arrival) stand(carried(chosen, document));
      else choose(inFrame(document.where));
      afterFrame(() => write(false)); // what could not be read in it is mended, and what a late run has written of it
      render();
    },
    // Goes where the address leads.
    follow() {
      settled.drop();
      stop();
      choose(inFrame(readPlace(pass, address.read())));
      render();
      tell();
    },
    left: () => {
      settled.drop(); // the address may be another page's already
      return chosen;
    },
  };
}
