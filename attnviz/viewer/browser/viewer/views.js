// The views: the parts of the viewer, where each stands on the page, and in which order they are drawn.
import { element } from "../elements/element.js";
import { makeHeads } from "../map/heads.js";
import { makeMap } from "../map/map.js";
import { makeStepButtons } from "../map/stepButtons.js";
import { makeWholePass } from "../map/wholepass.js";
import { makePanel } from "../panel/panel.js";
import { makeBrush } from "../picture/brush.js";
import { makePicture } from "../picture/picture.js";
import { makeSheet } from "../sheet/sheet.js";
import { makeTraining } from "../training/training.js";
import { makeGlossary } from "../words/glossary.js";
import { makeNextLetter } from "../words/nextLetter.js";
import { makeOffer } from "../words/offer.js";
import { makePairing } from "../words/pairing.js";
import { makeStepText } from "../words/stepText.js";
import { makeThread } from "../words/thread.js";
import { makeAnnouncer } from "./announcer.js";
import { makeStatus } from "./status.js";

// `edge`, `toolbar`, `code`, `desk` and `printDialog` stand among them; follow(command) and enter(offer) do what is asked for, isPlaying()
// says whether steps are played, `isNew` whether somebody is welcomed. Returns {update(pass, where, look), isNew(), end()}.
export function makeViews(root, tools, { edge, toolbar, code, desk, printDialog, follow, enter, isPlaying, isNew }) {
  const map = makeMap(tools),
    way = makeStepButtons(map.element, tools, by => follow(by > 0 ? "on" : "back"));
  const nextLetter = makeNextLetter(tools),
    offer = makeOffer(tools),
    pairing = makePairing(tools),
    thread = makeThread(tools),
    stepText = makeStepText(enter, isNew),
    brush = makeBrush(tools),
    picture = makePicture(tools, brush),
    wholePass = makeWholePass(tools);
  const sheet = makeSheet(tools),
    training = makeTraining(tools),
    status = makeStatus(tools),
    heads = makeHeads(tools),
    panel = makePanel(tools);
  const glossary = makeGlossary(root),
    announcer = makeAnnouncer(() => isPlaying() || training.isRunning || nextLetter.isRunning);

  panel.element.prepend(heads.element);
  const foot = boxOf("foot", [toolbar, status]),
    main = boxOf("main", [pairing, thread, stepText, nextLetter, offer, brush, sheet, picture, wholePass]);
  main.append(foot);
  const columns = boxOf("columns", [{ element: main }, panel]);
  root.replaceChildren(
    ...(desk ? [desk.element] : []),
    ...[way, training, { element: columns }, announcer, edge, glossary, code, printDialog].map(each => each.element),
    ...(desk ? [desk.dialogs] : []),
  );

  const narrow = [way, map, training, offer, pairing, nextLetter, thread, stepText, heads, panel, toolbar, brush],
    large = [sheet, picture, wholePass], // which get the room that is left
    connected = [map, heads, thread]; // which ask where things stand, once all are written
  const rest = [status, announcer, code, glossary];
  return {
    update(pass, where, look) {
      // What goes makes room for what comes.
      const ordered = [...large].sort((one, other) => Number(one.element.hidden) - Number(other.element.hidden));
      for (const view of [...narrow, ...ordered, ...rest]) view.update(pass, where, look);
      for (const view of connected) view.connect();
    },
    isNew: () => stepText.isNew,
    end() {
      for (const view of [training, nextLetter, glossary]) view.end();
    },
  };
}

function boxOf(className, views) {
  const box = element("div", className);
  box.append(...views.map(each => each.element));
  return box;
}
