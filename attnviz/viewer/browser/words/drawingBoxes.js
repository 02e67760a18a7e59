// Drawing: whether the next letter is the most probable or drawn, and with which temperature, top-k, top-p and seed.
import { button, choice } from "../elements/button.js";
import { element } from "../elements/element.js";

const HOW = { probable: "the most probable", drawn: "drawn" };
const NAMES = { temperature: "temperature", top_k: "top-k", top_p: "top-p" };
const FIRST = { temperature: 1, top_k: 0, top_p: 1, seed: 0 };
const MAX_SEED = 999;

export function drawHow(drawing, { send }) {
  return choice(Object.values(HOW), drawing ? HOW.drawn : HOW.probable, text =>
    send("draw", text === HOW.probable ? null : FIRST),
  );
}

// Nothing where the most probable comes next.
export function drawBoxes(drawing, offered, { send }) {
  if (!drawing) return [];
  const set = parts => send("draw", { ...drawing, ...parts });
  const boxes = Object.entries(NAMES).map(([name, label]) =>
    drawOffer(label, offered[name], drawing[name], value => set({ [name]: value })),
  );
  return [...boxes, drawSeed(drawing.seed, value => set({ seed: value }))];
}

function drawOffer(label, values, present, pick) {
  const line = element("label", "", `${label} `),
    select = element("select");
  select.append(
    ...values.map(value => element("option", "", label === NAMES.top_k && value === 0 ? "all" : String(value))),
  );
  select.selectedIndex = values.indexOf(present);
  select.onchange = () => pick(values[select.selectedIndex]);
  line.append(select);
  return line;
}

function drawSeed(present, pick) {
  const line = element("label", "", "seed "),
    input = element("input");
  Object.assign(input, { type: "number", min: 0, max: MAX_SEED, step: 1, value: present });
  input.onchange = () => {
    if (input.checkValidity() && input.value !== "") pick(Number(input.value));
  };
  const dice = button("⚄", () => pick((present + 1) % (MAX_SEED + 1)));
  dice.ariaLabel = "Another seed";
  line.append(input, dice);
  return line;
}
