// Blocks: how much room a matrix needs besides its cells, as fit.js counts it.
import { titleOf } from "./caption.js";
import { scaleOf } from "./face.js";
import { plain } from "../pass/latex.js";
import { short } from "../pass/numeral.js";
import { bandOf } from "./slot.js";

const WIDEST_CAPTION = 14; // a longer one is cut off

export function blockOf(slot, paint) {
  const {
    given,
    size: [rows, columns],
  } = slot;
  const width = text => textWidth(text, paint.family);
  return {
    rows,
    columns,
    rowLabel: Math.max(...slot.rows.labels.map(width)),
    columnLabel: Math.max(...slot.columns.labels.map(width)),
    rowNames: [slot.word, ...slot.rows.labels].join("\n"), // one word's rows are no others, whatever they are called
    columnNames: slot.columns.labels.join("\n"),
    before: given.sign ? 0.9 + width(given.sign) : 0,
    after: given.after ? 0.9 + width(given.after) : 0,
    sums: given.sums ? 3.2 : 0,
    bands: bandOf(slot.columns) > 0,
    caption: Math.min(
      width(`${slot.side ?? ""} ${plain(slot.symbol)} ${titleOf(slot, paint.look)}`) + 1.6,
      WIDEST_CAPTION,
    ),
    symbol: width(`${slot.side ?? ""} ${plain(slot.symbol)}`) + 1,
    digits: width(widestDigits(scaleOf(slot, paint), isMoved(slot, paint))),
  };
}

// Numbers that a training moves have room for two digits before the point from its start, so that their cells stay where they are.
function isMoved({ stage }, { pass, isStill }) {
  return !isStill && Boolean(stage.rule && pass.document.model?.training);
}

function widestDigits({ scale, limit }, hasMore) {
  if (scale === "flag") return "1";
  return scale === "share" ? "0.00" : short(-Math.max(limit, hasMore ? 10 : 0));
}

let probe = null;

// The width of a text in units of its font's size.
function textWidth(text, family) {
  probe ??= document.createElement("canvas").getContext("2d");
  probe.font = `100px ${family}`;
  return probe.measureText(text).width / 100;
}
