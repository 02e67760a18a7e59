// Download: the viewer with its pass, as it is shown, in one HTML file that needs no server (viewer/bundle.py).
import { h } from "../dom/element.js";

const MAX_NAME = 60; // characters of a file's name
const MARKUP = /</g;

export const isWhole = ({ stages }) => !Object.values(stages).some(({ values }) => values.includes(null));

// About how many bytes the file has, of which its shell has some. What is still to come is as large as what is here; to a page alone nothing comes.
export function bytesOf(document, shell, isLinked = true) {
  const documents = [document, document.other?.document].filter(Boolean);
  const more = documents.flatMap(({ stages }) => Object.values(stages)).map(isLinked ? moreIn : () => 0);
  return more.reduce((sum, bytes) => sum + bytes, shell + JSON.stringify(document).length);
}

function moreIn({ values }) {
  const known = values.find(each => each !== null),
    missing = values.filter(each => each === null).length;
  return known === undefined ? 0 : missing * (JSON.stringify(known).length - "null".length);
}

export const sizeText = bytes => (bytes < 1e6 ? `${Math.round(bytes / 1000)} kB` : `${(bytes / 1e6).toFixed(1)} MB`);

// Fills a shell, an HTML page without data, with a document and what is shown of it. Returns the file's text.
export function filled(shell, document, where) {
  const sentence = sentenceOf(document),
    parts = { ...asSent(document), where, door: null, offer: null };
  shell.title = `${sentence} – attnviz`;
  shell.querySelector("#document").textContent = JSON.stringify(parts).replace(MARKUP, "\\u003c"); // ends no element
  return `<!doctype html>\n${shell.documentElement.outerHTML}\n`;
}

// A document, and that of the pass beside it, as they come from a server.
function asSent(document) {
  const { other } = document;
  return {
    template: { name: "", parts: document },
    ...(other && { other: { ...other, document: asSent(other.document) } }),
  };
}

export function fileName(document) {
  const name = `attnviz ${sentenceOf(document)}`.replace(/[^\p{L}\p{M}\p{N}]+/gu, " ").trim();
  return `${name.length > MAX_NAME ? name.slice(0, MAX_NAME).replace(/ \S*$/, "") : name}.html`;
}

function sentenceOf({ link, words }) {
  const text = link.sentence ?? words.query.join(" ");
  return text.length > 80 ? `${text.slice(0, 79)}…` : text;
}

export function saveFile(text, name, type = "text/html") {
  const url = URL.createObjectURL(new Blob([text], { type }));
  const link = h("a", { href: url, download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000); // a browser may ask first where to
}

// Downloads what now() returns as a page, once all its numbers have come. passLoaded() is called for each pass that comes.
export function makeDownload(host, now) {
  let isWanted = false;
  const save = async () => {
    const { pass, where } = now();
    isWanted = false;
    saveFile(filled(await host.page.shell(), pass.document, where), fileName(pass.document));
  };
  return {
    start() {
      isWanted = !host.alone && !isWhole(now().pass.document);
      if (isWanted) host.send("need", true);
      else save();
    },
    passLoaded: () => isWanted && save(),
  };
}
