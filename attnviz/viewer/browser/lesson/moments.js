// Moments: asked for once as long as the page is open, and the next one ahead.

// `fetched(place)` gives a moment. Returns {get(place), ahead(places)}: a promise of a moment, which is asked for again where
// that failed; and the asking for some before anybody needs them, one after the other. Those with the same name are the same.
export function makeMoments(fetched, nameOf = ({ lesson, moment }) => `${lesson} ${moment}`) {
  const kept = new Map();
  const get = place => {
    const name = nameOf(place);
    if (!kept.has(name)) {
      const coming = fetched(place);
      kept.set(name, coming);
      coming.catch(() => kept.delete(name));
    }
    return kept.get(name);
  };
  return {
    get,
    async ahead(places) {
      for (const place of places) await get(place).catch(() => {}); // who gets there is told
    },
  };
}

// Moments asked of the server at `site`; `templates` puts together what it sends of a pass.
export function fetchedFrom(site, templates) {
  return async ({ lesson, moment }) => {
    return whole(await answerFrom(new URL(`moment?lesson=${lesson}&moment=${moment}`, site)), templates);
  };
}

// The questions of a lesson as a file, asked of the server.
export function questionsFrom(site) {
  const ask = askTalkAt(site);
  return async (lesson, form) => (await ask({ kind: "export", form, lesson })).file;
}

// Questions to the server about a talk.
export function askTalkAt(site) {
  return said => answerFrom(new URL("talk", site), { method: "POST", body: JSON.stringify(said) });
}

async function answerFrom(url, request = {}) {
  const answer = await fetch(url, request);
  if (!answer.ok) throw new Error(await answer.text());
  return answer.json();
}

// Moments of one lesson that are at hand.
export function heldIn(moments, templates) {
  return ({ moment }) => Promise.resolve(whole(moments[moment - 1], templates));
}

function whole(sent, templates) {
  return { ...sent, document: templates.whole({ pass: sent.document }).pass };
}
