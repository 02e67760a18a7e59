// The page of a pass: settings, notices, the banner of a changed pass, and the view (pass, audit or program).
import { afterFrame, button, choice, h, makeFlash, memoLast, redraw, write } from "../dom/element.js";
import { drawRuns } from "../dom/runs.js";
import { copyText } from "../dom/link.js";
import { saveFile } from "../views/download.js";
import { makeSettings } from "../views/settings.js";
import { mount } from "../views/viewer.js";

// Streamlit's dialog on a lost server steals the focus and doesn't return it. Returns a function that restores it in `root`.
function makeFocusRestorer(root) {
  let lastFocused = null;
  root.addEventListener("focusin", () => {
    lastFocused = null;
  });
  root.addEventListener("focusout", ({ target, relatedTarget }) => {
    lastFocused = relatedTarget?.closest('[role="dialog"]') ? target : null;
  });
  return () => {
    if (document.activeElement === document.body) lastFocused?.focus({ preventScroll: true });
  };
}

const LONG_MS = 1000;

// Returns a function that marks `root` and the view as busy or not; a view that is busy for long dims.
export function makeBusyMarker(root, view) {
  let timer = /** @type {ReturnType<typeof setTimeout> | undefined} */ (undefined);
  return isBusy => {
    for (const each of [root, view]) each.ariaBusy = isBusy;
    if (isBusy) timer ??= setTimeout(() => view.classList.add("late"), LONG_MS);
    else {
      clearTimeout(timer);
      timer = undefined;
      view.classList.remove("late");
    }
  };
}

const HEAD = ["stage", "numbers", "largest difference"];

// run(what) reruns the page for what no action does. Returns {show(audit), end()}.
export function mountAudit(box, { run }) {
  const sign = h("span", { ariaHidden: "true" }),
    sentence = h("span"),
    verdict = h("p", { class: "verdict", role: "status" }, sign, sentence),
    body = h("tbody"),
    head = h("tr", {}, ...HEAD.map(title => h("th", { scope: "col" }, title))),
    table = h("table", {}, h("thead", {}, head), body),
    ask = button("", () => run("recompute"), "primary");
  const drawRow = ({ name, numbers, off }) =>
    h("tr", {}, h("td", {}, h("code", {}, name)), h("td", {}, numbers), h("td", {}, off));
  const draw = memoLast(stages => body.replaceChildren(...stages.map(drawRow)));
  box.replaceChildren(ask, verdict, table);
  return {
    show(audit) {
      const isAsking = Object.hasOwn(audit, "asks");
      ask.hidden = !isAsking;
      sign.hidden = table.hidden = isAsking;
      verdict.className = isAsking ? "" : "verdict";
      write(ask, audit.asks ?? "");
      write(sign, audit.agrees ? "✓ " : "✗ ");
      write(sentence, audit.sentence ?? "");
      if (!isAsking) draw(audit.stages);
    },
    end: () => {},
  };
}

function makeBanner(act, run) {
  const line = h("p"),
    change = button("Change it", () => run("other numbers")),
    reset = button("Reset", () => act("reset", true)),
    box = h("div", { class: "banner" }, line, change, reset),
    draw = memoLast(runs => line.replaceChildren(...drawRuns(runs)));
  return {
    element: box,
    update({ byHand }) {
      box.hidden = !byHand;
      if (byHand) draw(byHand);
    },
  };
}

export function makeNotices(act) {
  const lines = h("div"),
    buttons = h("div", { class: "offers" }),
    box = h("div", { class: "notices", role: "alert", hidden: true }, lines, buttons),
    draw = memoLast(notices => lines.replaceChildren(...notices.map(each => h("p", {}, each)))), // redrawing would make screen readers repeat it
    offerButton = ({ event, value, label }) => button(label, () => act(event, value)),
    offer = memoLast(offers => redraw(buttons, offers.map(offerButton)));
  return {
    element: box,
    update({ notices, offers }) {
      box.hidden = offers.length + notices.length === 0;
      offer(offers);
      draw(notices);
    },
  };
}

const LANGUAGES = { NumPy: "runs", PyTorch: "torch", "microgpt’s Python": "microgpt" };
const FILES = { runs: "attnviz_pass.py", torch: "attnviz_torch.py", microgpt: "attnviz_microgpt.py" };
const NO_TORCH = " PyTorch’s nn.MultiheadAttention can’t make this pass.";

function mountScript(box) {
  const code = h("code"),
    status = h("span", { class: "copied", role: "status" }),
    report = makeFlash(status, 5000),
    languages = h("p", { class: "languages" });
  let shown = /** @type {any} */ (null),
    language = "NumPy";
  const pick = name => {
    language = name;
    draw();
  };
  const draw = () => {
    const chosen = shown[LANGUAGES[language]] ? language : "NumPy",
      kind = LANGUAGES[chosen],
      file = FILES[kind],
      names = Object.keys(LANGUAGES).filter(name => shown[LANGUAGES[name]]),
      saveNumbers = () => saveFile(shown.file.text, shown.file.name, "application/json");
    redraw(languages, [
      names.length > 1 && choice(names, chosen, pick),
      !shown.torch && h("span", { class: "note" }, NO_TORCH),
      kind === "microgpt" && button(`Its numbers (${shown.file.name})`, saveNumbers),
    ]);
    write(saving, `↓ ${file}`);
    saving.onclick = () => saveFile(code.textContent, file, "text/x-python");
    code.replaceChildren(...shown[kind].map(([name, part]) => (name ? h("span", { class: name }, part) : part)));
  };
  const copying = button("Copy", async () => {
    report((await copyText(window, code.textContent)) ? "Copied." : "Select it and copy it by hand.");
  });
  const saving = button("", () => {}),
    bar = h("div", { class: "bar" }, copying, saving, status);
  box.replaceChildren(languages, h("div", { class: "program" }, bar, h("pre", {}, code)));
  return {
    show(script) {
      shown = script;
      draw();
    },
    end: () => {},
  };
}

const VIEWS = {
  pass: { mount, style: "viewer" },
  audit: { mount: mountAudit, style: "audit" },
  script: { mount: mountScript, style: "script" },
};

// host: server receives the user's actions; run(what) has Streamlit rerun the page, for changes that are no action; page, classBar, talk and
// versions are as in viewer.js. `saved` is what an earlier page's end() returned.
export function mountPage(root, { server, address, run, page, classBar, talk, versions }, saved = null) {
  let mounted = /** @type {any} */ (null);
  const act = (name, message) => {
    server.act(name, message);
    setBusy(server.isWaiting);
  };
  const show = (answer, isDone) => {
    if (!root.isConnected) return; // the user has left for another page
    address.setParameters(answer.address);
    if (isDone) afterFrame(address.move);
    settings.update(answer, server.isWaiting);
    notices.update(answer);
    banner.update(answer);
    const shown = answer[answer.view],
      view = VIEWS[answer.view];
    box.hidden = !shown;
    markEmpty(box);
    if (shown) {
      box.classList.add(view.style);
      const { type, example } = settings;
      mounted ??= view.mount(box, { send: act, address, run, page, classBar, talk, versions, type, example }, saved);
      mounted.show(shown);
    }
    afterFrame(() => setBusy(server.isWaiting));
  };
  const settings = makeSettings(act),
    notices = makeNotices(act),
    banner = makeBanner(act, run),
    box = h("div", { class: "view" });
  // Enter moves the focus from a line that was typed to the view, where keys are shortcuts; a click into it does not.
  settings.element.addEventListener("keydown", ({ key, target }) => {
    if (key !== "Enter" || !target.matches(".typed") || target.matches(":focus")) return;
    box.tabIndex = -1;
    box.focus({ preventScroll: true });
  });
  box.addEventListener("blur", () => box.removeAttribute("tabindex"));
  const setBusy = makeBusyMarker(root, box),
    restoreFocus = makeFocusRestorer(root);
  root.replaceChildren(settings.element, notices.element, banner.element);
  return {
    update(answer) {
      server.receive(answer, show);
      if (server.isWaiting) setBusy(true); // the answer is late: a fresh one was requested
      restoreFocus();
    },
    // Puts the view below its settings, or into an element elsewhere on Streamlit's page, with Streamlit's text between them.
    attachTo(place) {
      if (box.parentNode === place) return;
      if (place !== root) {
        place.replaceChildren(); // remove an earlier page's view
        place.ariaBusy = false;
      }
      place.append(box);
      markEmpty(box);
    },
    end() {
      settings.end();
      return mounted?.end() ?? saved;
    },
  };
}

// Hides Streamlit's text about the view while there is no view.
function markEmpty(box) {
  box.getRootNode().host?.toggleAttribute("data-empty", box.hidden);
}
