// The component of an article: pieces of a page, one below the other. A choice is drawn at once and then sent to the server.
import { addressOf } from "../shell/history.js";
import { makePiece } from "./pieces.js";
import { cleanupIfGone } from "../shell/streamlit.js";

const RETRY_MS = 1000;

// trigger() requests a run; `root` is busy until it has come, and before the first. end(), after Back and on another page, drops the request.
export function makeRerun(root, trigger) {
  let wanted = null,
    timer = null;
  const end = () => {
    clearTimeout(timer);
    wanted = null;
    root.ariaBusy = false;
  };
  const again = () => {
    trigger();
    timer = setTimeout(again, RETRY_MS);
  };
  return {
    ask: chosen => {
      end();
      wanted = JSON.stringify(chosen);
      root.ariaBusy = true;
      again();
    },
    ran: chosen => {
      if (wanted === null || JSON.stringify(chosen) === wanted) end();
    },
    end,
  };
}

// send(name, value) has the page run: "chosen" with all that is chosen, or "opened" with a door.
function mountArticle(root, send) {
  const drawn = []; // {text, piece} of each piece on the page: one that stays as it is keeps its element
  let pieces = [],
    chosen = null; // what is chosen here, until a run has it too
  const rerun = makeRerun(root, () => send("chosen", chosen));
  const choose = (event, value) => {
    chosen = { ...(chosen ?? chosenIn(pieces)), [event]: value };
    draw();
    rerun.ask(chosen);
  };
  const draw = () => {
    const now = unfolded(pieces, chosen ?? chosenIn(pieces));
    for (const [i, { value, ...piece }] of now.entries()) {
      const text = JSON.stringify(piece);
      if (drawn[i]?.text !== text) {
        const made = { text, piece: makePiece(piece, { choose, open: door => send("opened", door) }) };
        if (drawn[i]) drawn[i].piece.element.replaceWith(made.piece.element);
        else root.append(made.piece.element);
        drawn[i] = made;
      }
      drawn[i].piece.update?.(value);
    }
    for (const { piece } of drawn.splice(now.length)) piece.element.remove();
  };
  const forget = () => {
    chosen = null;
    rerun.end();
  };
  const stop = addressOf(window).onNavigate(forget); // nobody wants any more what was chosen before Back
  return {
    update: next => {
      const shown = chosenIn(next);
      rerun.ran(shown);
      if (JSON.stringify(shown) === JSON.stringify(chosen)) chosen = null;
      pieces = next;
      draw();
    },
    end: () => {
      forget();
      stop();
    },
  };
}

const chosenIn = pieces =>
  Object.fromEntries(pieces.filter(({ kind }) => kind === "choice").map(({ event, value }) => [event, value]));

// The pieces with those of each chosen option below its choice.
const unfolded = (pieces, chosen) =>
  pieces.flatMap(({ options, ...piece }) => {
    if (piece.kind !== "choice") return [piece];
    const value = chosen[piece.event];
    const names = options.map(({ value, runs }) => ({ value, runs }));
    return [{ ...piece, options: names, value }, ...options.find(each => each.value === value).pieces];
  });

const articles = new WeakMap(); // root -> its article
const text = new TextDecoder();

export default function ({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector(".article");
  const article = articles.get(root) ?? mountArticle(root, setTriggerValue);
  articles.set(root, article);
  article.update(JSON.parse(text.decode(data)).pieces);
  return cleanupIfGone(root, () => {
    if (articles.delete(root)) article.end();
  });
}
