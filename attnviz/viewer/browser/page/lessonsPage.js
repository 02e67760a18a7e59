// Entry point of the page of lessons in the app, which fetches moments from the server one by one.
import { momentsFrom, questionsFrom, searchOf } from "../lesson/course.js";
import { mountLessons } from "../lesson/lessons.js";
import { addressOf } from "../shell/history.js";
import { cleanupIfGone } from "../shell/streamlit.js";

const pages = new WeakMap(); // root -> its page

/** open(address) opens a scene in the walkthrough. `app` is as in component.js. */
export function showLessons(root, course, { site, templates, controller, loadScript, classBar }, open) {
  const talkHost = controller.lessonsHost(open);
  const host = {
    ...talkHost,
    address: addressOf(window),
    fetchMoment: momentsFrom(site, templates),
    loadScript,
    has: () => true,
    opensSentences: true,
    hrefTo: searchOf,
    open(address, position) {
      talkHost.shareUploads(position);
      open(address);
      return true;
    },
    hrefOf: address => String(new URL(`walkthrough${address && `?${address}`}`, site)),
    hrefOfPage: name => String(new URL(name, site)),
    questions: questionsFrom(site),
    store: () => localStorage,
    classBar,
    isLinked: true,
    onDrawn: () => document.querySelector(".first-moment")?.remove(), // the first moment's text (app/first_moment.html)
  };
  const begin = () => {
    const page = mountLessons(root, course, host);
    controller.lessonsMounted(page, open);
    return page;
  };
  const shown = pages.get(root) ?? begin();
  pages.set(root, shown);
  controller.attachTo(root);
  return cleanupIfGone(root, () => {
    if (pages.delete(root)) shown.end();
  });
}
