// The page: settings, notices, the banner of a changed pass, and the view: pass, audit or program.
import { button, choice, element, redraw, write } from "../dom/element.js";
import { whenOther, afterFrame } from "../dom/timing.js";
import { drawRuns } from "../dom/runs.js";
import { copyText } from "../dom/link.js";
import { saveFile } from "../views/download.js";
import { makeSettings } from "../views/settings.js";
import { mount } from "../views/viewer.js";

// Streamlit's dialog on a lost server steals the focus and doesn't return it. Returns a function that restores it in `root`.
function keepKeyboard(root) {
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

// Returns a function that is told whether there are any: `root` is busy then, and so is the view, which dims.
export function makeWaiting(root, view) {
  let timer = null;
  return isWaiting => {
    for (const each of [root, view]) each.ariaBusy = isWaiting;
    if (isWaiting) timer ??= setTimeout(() => view.classList.add("late"), LONG_MS);
    else {
      clearTimeout(timer);
      timer = null;
      view.classList.remove("late");
    }
  };
}

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

// act and run as for the page. Returns {element, update(answer)}.
function makeBanner(act, run) {
  const box = element("div", "banner"),
    line = element("p"),
    draw = whenOther(runs => line.replaceChildren(...drawRuns(runs)));
  box.append(
    line,
    button("Change it", () => run("other numbers")),
    button("Reset", () => act("reset", true)),
  );
  return {
    element: box,
    update({ byHand }) {
      box.hidden = !byHand;
      if (byHand) draw(byHand);
    },
  };
}

export function makeNotices(act) {
  const box = element("div", "notices"),
    lines = element("div"),
    buttons = element("div", "offers");
  const draw = whenOther(notices => lines.replaceChildren(...notices.map(each => element("p", "", each)))), // redrawing would make screen readers repeat it
    offer = whenOther(offers =>
      redraw(
        buttons,
        offers.map(({ event, value, label }) => button(label, () => act(event, value))),
      ),
    );
  box.setAttribute("role", "alert");
  box.hidden = true;
  box.append(lines, buttons);
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

// Returns {show(script), end()}.
function mountScript(box) {
  const code = element("code"),
    text = element("pre"),
    status = element("span", "copied"),
    languages = element("p", "languages");
  let shown = null,
    language = "NumPy";
  const draw = () => {
    const now = shown[LANGUAGES[language]] ? language : "NumPy";
    const pick = name => {
      language = name;
      draw();
    };
    const names = Object.keys(LANGUAGES).filter(name => shown[LANGUAGES[name]]);
    redraw(languages, [
      ...(names.length > 1 ? [choice(names, now, pick)] : []),
      ...(shown.torch ? [] : [element("span", "note", " PyTorch’s nn.MultiheadAttention can’t make this pass.")]),
      ...(LANGUAGES[now] === "microgpt"
        ? [
            button(`Its numbers (${shown.file.name})`, () =>
              saveFile(shown.file.text, shown.file.name, "application/json"),
            ),
          ]
        : []),
    ]);
    const file = FILES[LANGUAGES[now]];
    write(saved, `↓ ${file}`);
    saved.onclick = () => saveFile(code.textContent, file, "text/x-python");
    code.replaceChildren(
      ...shown[LANGUAGES[now]].map(([kind, part]) =>
        kind ? element("span", kind, part) : document.createTextNode(part),
      ),
    );
  };
  const copy = button("Copy", async () => {
    write(status, (await copyText(window, code.textContent)) ? "Copied." : "Select it and copy it by hand.");
    setTimeout(() => write(status, ""), 5000);
  });
  const saved = button("", () => {});
  status.setAttribute("role", "status");
  text.append(code);
  const bar = element("div", "bar"),
    program = element("div", "program");
  bar.append(copy, saved, status);
  program.append(bar, text);
  box.replaceChildren(languages, program);
  return {
    show: script => {
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

// host: {server, address, run, page, desk, collect}: what is done here is told to the server; run(what) has the page run for what no
// act does; page, desk and collect are as viewer.js has them.
// `saved` is what an earlier page's end() returned. Returns {given(answer), stand(where), end()}.
export function mountPage(root, { server, address, run, page, desk, collect }, saved = null) {
  let mounted = null;
  const act = (name, message) => {
    server.act(name, message);
    wait(server.isWaiting);
  };
  const show = (answer, isDone) => {
    if (!root.isConnected) return; // the user has left for another page
    address.shows(answer.address);
    if (isDone) afterFrame(address.move);
    settings.update(answer, server.isWaiting);
    notices.update(answer);
    banner.update(answer);
    const { view } = answer,
      shown = answer[view];
    box.hidden = !shown;
    markEmpty(box);
    if (shown) {
      box.classList.add(VIEWS[view].style);
      mounted ??= VIEWS[view].mount(
        box,
        { send: act, address, run, page, desk, collect, type: settings.type, example: settings.example },
        saved,
      );
      mounted.show(shown);
    }
    afterFrame(() => wait(server.isWaiting));
  };
  const settings = makeSettings(act),
    notices = makeNotices(act),
    banner = makeBanner(act, run),
    box = element("div", "view");
  // Enter leaves a line that was typed: then the view has the keyboard, where keys are shortcuts. A click into it doesn't give it that.
  settings.element.addEventListener("keydown", ({ key, target }) => {
    if (key !== "Enter" || !target.matches(".typed") || target.matches(":focus")) return;
    box.tabIndex = -1;
    box.focus({ preventScroll: true });
  });
  box.addEventListener("blur", () => box.removeAttribute("tabindex"));
  const wait = makeWaiting(root, box),
    giveKeyboard = keepKeyboard(root);
  root.replaceChildren(settings.element, notices.element, banner.element);
  return {
    given: answer => {
      server.given(answer, show);
      if (server.isWaiting) wait(true); // where this is late, for another in its place
      giveKeyboard();
    },
    // The view stands here: below its settings, or where Streamlit's own text is between them.
    stand: where => {
      if (box.parentNode === where) return;
      if (where !== root) {
        where.replaceChildren(); // remove an earlier page's view
        where.ariaBusy = false;
      }
      where.append(box);
      markEmpty(box);
    },
    end: () => {
      settings.end();
      return mounted?.end() ?? saved;
    },
  };
}

// Hides Streamlit's text about the view while there is no view.
function markEmpty(box) {
  box.getRootNode().host?.toggleAttribute("data-empty", box.hidden);
}
