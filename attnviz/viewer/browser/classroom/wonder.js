// A listener's own question to the speaker, and the votes for those that the speaker shows.
import { button, h, redraw, write } from "../dom/element.js";
import { makeTextField } from "../lesson/question.js";

const ALONE = "Only the speaker sees it, without a name, unless the speaker shows it.";

// post(message) sends a message of this seat's.
/** @param {(message: object) => Promise<Reply>} post @param {import("../lesson/question.js").Draft} draft */
export function makeWonder(post, draft) {
  const field = makeTextField({ label: "Your question", verb: "Send", draft, send }),
    own = h("p", { class: "own-question" }),
    status = h("p", { class: "note", role: "status" }),
    asking = h(
      "details",
      {},
      h("summary", {}, "Ask the speaker"),
      own,
      field.element,
      h("p", { class: "note" }, ALONE),
      status,
    ),
    list = h("ul"),
    shown = h("section", {}, h("h2", {}, "Questions from the class"), list),
    box = h("section", { class: "class-wonder", "aria-label": "Your questions", hidden: true }, shown, asking);
  let asked = "", // what this seat asks the speaker
    votes = new Set(),
    wonders = /** @type {import("../../generated/contract").Wondered[]} */ ([]);
  async function send(text) {
    const { isDone, message } = await post({ do: "wonder", text });
    write(status, isDone ? (text ? "Sent." : "The speaker doesn’t see it any more.") : message);
    if (!isDone) return;
    asked = text;
    if (text) field.clear();
    draw();
  }
  async function vote(id) {
    const isOn = !votes.has(id);
    mark(id, isOn);
    const { isDone, message } = await post({ do: "vote", id, isOn });
    if (isDone) return;
    write(status, message);
    mark(id, !isOn);
  }
  function mark(id, isOn) {
    if (isOn) votes.add(id);
    else votes.delete(id);
    draw();
  }
  function draw() {
    shown.hidden = !wonders.length;
    redraw(
      own,
      asked ? [h("span", {}, "You ask: ", h("bdi", {}, asked)), button("Ask something else", () => send(""))] : [],
    );
    field.element.hidden = Boolean(asked);
    redraw(list, wonders.map(drawLine));
  }
  function drawLine({ id, text, votes: count }) {
    const voting = button(`▲ ${count}`, () => vote(id));
    voting.setAttribute("aria-label", `I want to know this, too: “${text}”, ${count} votes`);
    voting.setAttribute("aria-pressed", String(votes.has(id)));
    voting.dataset.act = `vote ${id}`;
    return h("li", {}, voting, h("bdi", {}, text));
  }
  return {
    element: box,
    // Takes what the server has of this seat, after a reload.
    recall(received) {
      asked = received.wondered;
      votes = new Set(received.votes);
      draw();
    },
    // `now` are the questions that are shown; null where listeners can't ask any.
    update(now) {
      box.hidden = now === null;
      wonders = now ?? [];
      draw();
    },
  };
}
