// The audit: its verdict in a sentence, which is announced where it is another, and how each stage came out; of a large
// pass what asks for it.
import { button } from "../elements/button.js";
import { element, write } from "../elements/element.js";
import { whenOther } from "../elements/whenOther.js";

const HEAD = ["stage", "numbers", "largest difference"];

// run(what) has the page run for what no act does. Returns {show(audit), end()}.
export function mountAudit(box, { run }) {
  const verdict = element("p", "verdict"),
    sign = element("span"),
    sentence = element("span"),
    table = drawTable(),
    [body] = table.tBodies;
  const ask = button("", () => run("recompute"), "primary"),
    draw = whenOther(stages => body.replaceChildren(...stages.map(drawRow)));
  verdict.setAttribute("role", "status");
  sign.ariaHidden = "true";
  verdict.append(sign, sentence);
  box.replaceChildren(ask, verdict, table);
  return {
    show(audit) {
      const isAsking = Object.hasOwn(audit, "asks");
      ask.hidden = !isAsking;
      for (const each of [sign, table]) each.hidden = isAsking;
      verdict.className = isAsking ? "" : audit.agrees ? "verdict good" : "verdict bad";
      write(ask, audit.asks ?? "");
      write(sign, audit.agrees ? "✓ " : "⚠ ");
      write(sentence, audit.sentence ?? "");
      if (!isAsking) draw(audit.stages);
    },
    end: () => {},
  };
}

function drawTable() {
  const table = element("table"),
    line = table.createTHead().insertRow();
  line.append(
    ...HEAD.map(title => {
      const cell = element("th", "", title);
      cell.scope = "col";
      return cell;
    }),
  );
  table.createTBody();
  return table;
}

function drawRow({ name, numbers, off }) {
  const row = element("tr"),
    stage = element("td");
  stage.append(element("code", "", name));
  row.append(stage, element("td", "", numbers), element("td", "", off));
  return row;
}
