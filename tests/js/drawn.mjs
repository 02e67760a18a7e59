// What the viewer draws of passes: reads {lines, passes}, `lines` being the source of what reads a sheet's table and each pass
// {document, places}; writes for each place of each pass what stands there.
import { readFileSync } from "node:fs";
import { install, sizes } from "./fakeDom.mjs";

const document = install(),
  { mount } = await import("../../attnviz/viewer/browser/views/viewer.js"),
  { lines, passes } = JSON.parse(readFileSync(0, "utf-8")),
  readLines = new Function(`return ${lines}`)();

const isSeen = each => Boolean(each?.isConnected && each.checkVisibility());
const textsOf = all => all.map(each => each.textContent);

function wordsOf(box, label) {
  const line = box.querySelector(`[aria-label="${label}"]`);
  return line.children.map(word => [
    word.querySelector(".text").textContent,
    ...textsOf(word.querySelectorAll(".said")),
  ]);
}

function readThread(thread) {
  return {
    queries: wordsOf(thread, "Queries"),
    keys: wordsOf(thread, "Keys"),
    arcs: thread.querySelectorAll("svg.arcs").map(svg => svg.children.map(each => each.dataset.arc)),
  };
}

function readMatrix(figure) {
  const [head, ...rows] = figure.querySelectorAll("tr");
  return {
    stage: figure.dataset.stage,
    columns: head ? textsOf(head.children).slice(1) : null,
    rows: head ? rows.map(row => row.firstChild.textContent) : null,
    labels: figure.querySelectorAll(".labels").map(strip => textsOf(strip.children)),
    cells: figure.querySelectorAll("td").map(each => [each.dataset.place, each.textContent]),
  };
}

function readSheet(sheet) {
  const sentence = sheet.querySelector(".sentence"),
    rowsOf = table => table.querySelectorAll("tr").map(row => textsOf(row.children));
  return {
    lines: readLines(sheet.querySelector("table")),
    hand: sheet.querySelectorAll("table.rows").map(rowsOf),
    sentence: isSeen(sentence) ? textsOf(sentence.querySelectorAll("button")) : null,
  };
}

function readWhole(whole) {
  const [words, end] = [".words-of", ".words-of.end"].map(each => textsOf(whole.querySelectorAll(`${each} span`)));
  return { said: whole.querySelector(".said").textContent, words: words.slice(0, words.length - end.length), end };
}

function partsOf(root) {
  return [".thread", ".sheet", ".picture", ".whole", ".panel"].map(each => root.querySelector(each));
}

function read([thread, sheet, picture, whole, panel]) {
  return {
    thread: readThread(thread),
    sheet: isSeen(sheet) ? readSheet(sheet) : null,
    matrices: isSeen(picture) ? picture.querySelectorAll("figure.matrix").map(readMatrix) : null,
    whole: isSeen(whole) ? readWhole(whole) : null,
    panel: { title: panel.querySelector("h3").textContent, story: panel.querySelector(".story").textContent },
  };
}

let arrival = 1e6;
const answers = passes.map(({ document: given, places }) => {
  const root = document.createElement("div");
  document.body.replaceChildren(root);
  const address = { read: () => "", write() {}, onNavigate: () => () => {} },
    viewer = mount(root, { alone: true, send: () => false, type() {}, address }, null);
  viewer.show(given);
  const parts = partsOf(root),
    first = read(parts);
  const found = places.map(({ isInHand, ...place }) => {
    arrival += 1;
    sizes.isInHand = isInHand;
    viewer.show({ ...given, arrival, where: { ...given.where, reveal: null, from: "", ...place } });
    return { place, ...read(parts) };
  });
  viewer.end();
  return [first, ...found];
});
process.stdout.write(JSON.stringify(answers).replaceAll("\u00a0", " "));
