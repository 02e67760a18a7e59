// The toolbar: one step on or back, play, the views, what to compare with, and the menu of ways out.
import { LABELS } from "../../generated/where.js";
import { hasSheet, isOfSheet, isSheet, ROUTES, stepAt } from "../model/state.js";
import { areLettersOn } from "../model/shortcuts.js";
import { SPEEDS } from "../model/route.js";
import { revealsOf } from "../model/address.js";
import { button, choice, element, h, redraw, write } from "../dom/element.js";
import { makeScroller } from "../dom/grid.js";
import { copyLink } from "../dom/link.js";
import { makePopover } from "../dom/popup.js";
import { afterFrame, whenOther } from "../dom/timing.js";
import { bytesOf, sizeText } from "./download.js";

// act(name, message) reaches the server.
function makeCompareMenu(act) {
  const opener = button("Compare"),
    panel = makePopover(opener, "compare", "Compare");
  panel.onbeforetoggle = () => {
    const { left, top } = opener.getBoundingClientRect();
    Object.assign(panel.style, { left: `${left}px`, bottom: `${globalThis.innerHeight - top + 6}px` });
  };
  panel.ontoggle = ({ newState }) => {
    if (newState === "open") panel.querySelector("button")?.focus();
  };
  const doing = (name, message) => () => {
    panel.hidePopover();
    act(name, message);
  };
  const draw = whenOther(([pairs, isPinned]) => {
    opener.title = areLettersOn() ? "Key C" : "";
    redraw(panel, [
      button("Pin this pass, then change anything", doing("pin", true), "primary"),
      ...pairs.map(({ id, label }) => button(label, doing("pair", id))),
      ...(isPinned ? [button("Unpin", doing("unpin", true))] : []),
    ]);
  });
  return { button: opener, panel, update: ({ document: { pairs, other } }) => draw([pairs, other !== null]) };
}

export function makeToolbar(
  play,
  { startPlay, present, openClass, isClass, look, showCode, isLinked, shell, download, print, act, choose, collect },
) {
  const box = element("div", "toolbar");
  let link = {},
    measured = null;
  const start = button("", () => {
    if (play.isRunning) play.pause();
    else if (play.isUnderWay) play.resume();
    else startPlay();
  });
  const back = button("‹", () => play.step(-1)),
    on = button("›", () => play.step(1));
  back.setAttribute("aria-label", "One reveal back");
  on.setAttribute("aria-label", "One reveal on");
  const speed = drawSpeeds(play);
  const compared = makeCompareMenu(act),
    presenting = button("Present", present),
    views = element("span", "views"),
    routes = element("span", "routes");
  const status = element("span", "copied");
  status.setAttribute("role", "status");
  const copy = button("Copy link", async () => {
    status.textContent = await copyLink(window, link);
    setTimeout(() => {
      status.textContent = "";
    }, 5000);
  });
  const inClass = button("Class", openClass),
    coded = button("QR code", showCode),
    page = button("↓ Page", download);
  inClass.title = "Phones in the room follow you, and answer your questions";
  page.title = "Download as a page: one file, which opens without a server";
  for (const each of [copy, coded, compared.button]) each.hidden = !isLinked;
  page.hidden = !shell;
  const collecting = button("Add this moment", collect);
  collecting.hidden = !collect;
  const printed = button("Print", print);
  printed.hidden = isSandboxed(window); // which nothing is printed from
  for (const each of [copy, coded, compared.button, page, printed, collecting]) each.classList.add("aside"); // of what a talk goes on without (talk.css)
  for (const each of [compared.button, copy, page, collecting]) each.classList.add("at-desk"); // of what nobody takes from a screen in a room
  const code = makeScroller(element("pre"));
  const numpy = h("details", { class: "numpy" }, element("summary", "", "In NumPy"), code);
  code.setAttribute("role", "group");
  code.setAttribute("aria-label", "The step in NumPy");
  box.append(
    start,
    back,
    on,
    speed,
    views,
    routes,
    compared.button,
    compared.panel,
    presenting,
    inClass,
    copy,
    coded,
    printed,
    page,
    collecting,
    numpy,
    status,
  );

  const drawRoutes = whenOther(route => redraw(routes, [choice(ROUTES, route, choose, LABELS)]));
  const drawViews = whenOther(([view, unit]) => {
    const names = { sheet: `One ${unit}`, matrices: `All ${unit}s` };
    redraw(views, [choice(Object.keys(names), view, look, names)]);
  });
  /** @type {View["update"]} */
  const update = (pass, where) => {
    const { numpy: lines } = stepAt(pass, where);
    link = pass.document.link;
    if (shell && measured !== pass.document) afterFrame(() => nameSize(page, bytesOf(pass.document, shell.bytes)));
    measured = pass.document;
    start.hidden = !revealsOf(pass, where).length && !isSheet(pass, where);
    write(start, play.isRunning ? "❚❚ Pause" : play.isUnderWay ? "▶ Go on" : "▶ Play");
    for (const each of [back, on, speed]) each.hidden = !play.isRunning && !play.isUnderWay;
    drawViews([where.view, pass.document.words.unit]);
    drawRoutes(where.route);
    routes.hidden = !where.present || !isOfSheet(pass, where);
    views.hidden = !hasSheet(pass);
    views.title = areLettersOn() ? "Key W" : "";
    write(presenting, where.present ? "Leave" : "Present");
    presenting.title = areLettersOn() ? "Key P" : "";
    inClass.hidden = !openClass || isClass(); // then its own bar has all of it
    coded.title = areLettersOn() ? "Key Q" : "";
    collecting.title = `Keeps what you see for a talk of your own${areLettersOn() ? ": key M" : ""}`;
    compared.update(pass);
    numpy.hidden = !lines.length;
    write(code, lines.join("\n"));
  };
  return { element: box, update };
}

// Whether it stands in a frame that may do nothing to the page around it, as in a notebook.
function isSandboxed({ self, top, origin }) {
  return self !== top && origin === "null";
}

function nameSize(page, bytes) {
  write(page, `↓ Page, ${sizeText(bytes)}`);
  page.setAttribute("aria-label", `Download as a page, ${sizeText(bytes)}`);
}

function drawSpeeds(play) {
  const speed = element("select");
  speed.setAttribute("aria-label", "Speed");
  for (const name of SPEEDS.keys()) speed.append(element("option", "", name));
  speed.value = play.speed;
  speed.onchange = () => {
    play.speed = speed.value;
  };
  return speed;
}
