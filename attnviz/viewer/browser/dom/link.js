// Links: the address of what is shown, and who can open it; those that lead elsewhere within the page.
import { h } from "./element.js";

const THIS_MACHINE = /^(localhost|127\.[\d.]+|\[::1\])$/;
const THIS_NETWORK = /^(10\.|192\.168\.|172\.(1[6-9]|2\d|3[01])\.|169\.254\.|\[f[cd]|\[fe80:|[^.:]+$)|\.local$/;

const MAX_BYTES = 12_000; // of an address: `streamlit run` reads 16 kB of a request, with what a browser adds to that

/** @param {string} hostname @param {string} protocol */
export const isOfThisMachine = (hostname, protocol) => protocol === "file:" || THIS_MACHINE.test(hostname);

export function reachOf(/** @type {string} */ hostname, /** @type {string} */ protocol) {
  if (isOfThisMachine(hostname, protocol)) return "Copied. Only this machine can open it.";
  return THIS_NETWORK.test(hostname) ? "Copied. Only your own network can open it." : "Copied.";
}

// The address of the page with what it leaves out as long as that is what a first visit shows, such as the sentence.
export function spelledOut(/** @type {string} */ href, /** @type {Record<string, string>} */ parameters) {
  const url = new URL(href);
  for (const [name, text] of Object.entries(parameters))
    if (!url.searchParams.has(name)) url.searchParams.set(name, text);
  return url.href;
}

/** The notice on a link's length; nothing where every server reads it. A letter of another script takes up to twelve bytes. @param {string} link */
export function lengthOf(link) {
  if (link.length <= MAX_BYTES) return "";
  return ` It is ${Math.ceil(link.length / 1000)} kB long, which a server may refuse: send the page instead (↓ Page).`;
}

// Follows a link within the page, if follow() says that it could; a click that asks for another tab or window is the browser's.
export function onPlainClick(/** @type {HTMLAnchorElement} */ link, /** @type {() => unknown} */ follow) {
  link.onclick = event => {
    if (event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
    if (follow()) event.preventDefault();
  };
}

/** Copies the address of the page; returns what is to be said of it. @param {Window} window @param {Record<string, string>} parameters */
export async function copyLink(window, parameters) {
  const { href, hostname, protocol } = window.location,
    link = spelledOut(href, parameters);
  return (await copyText(window, link)) ? reachOf(hostname, protocol) + lengthOf(link) : `Copy it from here: ${link}`;
}

/** Copies a text; returns whether it could. @param {Window} window @param {string} copied */
export async function copyText({ navigator, document }, copied) {
  try {
    await navigator.clipboard.writeText(copied);
    return true;
  } catch {
    // a page that came without https may not use the clipboard so
    const text = h("textarea", { value: copied });
    document.body.append(text);
    text.select();
    const isCopied = document.execCommand("copy");
    text.remove();
    return isCopied;
  }
}
