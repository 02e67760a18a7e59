// What is asked of the server about a talk, which keeps nothing of it: a moment with its pass, questions, a file.

// `templates` puts together what it sends of a pass.
export function makeTalkAsking(site, templates) {
  const kept = new Map(); // the moments that have come, by what they are made of: some go on without a server
  const ask = async said => {
    const answer = await fetch(new URL("talk", site), { method: "POST", body: JSON.stringify(said) });
    if (!answer.ok) throw new Error(await answer.text());
    return answer.json();
  };
  const fetched = async moment => {
    const sent = await ask({ kind: "moment", moment });
    return { ...sent, document: templates.whole({ pass: sent.document }).pass };
  };
  return {
    moment(moment) {
      const name = JSON.stringify(moment);
      if (!kept.has(name)) {
        const coming = fetched(moment);
        kept.set(name, coming);
        coming.catch(() => kept.delete(name));
      }
      return kept.get(name);
    },
    questions: async at => (await ask({ kind: "questions", at })).questions,
    fileOf: async talk => (await ask({ kind: "file", talk })).file,
    questionsFileOf: async (talk, form) => (await ask({ kind: "export", form, talk })).file,
    pageOf: async talk => (await ask({ kind: "page", talk })).page,
    talkOf: async said => (await ask({ kind: "talk", ...said })).talk,
  };
}
