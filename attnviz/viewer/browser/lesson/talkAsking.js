// Requests to the server about a talk, which keeps nothing of it: a moment with its pass, questions, a file.
import { askTalkAt, makeMoments } from "./moments.js";
import { uploadsOf } from "./talkList.js";

// `templates` puts together what it sends of a pass; `uploads` (talkUploads.js) has the files of one's own that moments show.
export function makeTalkAsking(site, templates, uploads) {
  const ask = askTalkAt(site);
  /** @param {{}} said @returns {Promise<import("../../generated/contract").OfferedQuestions>} */
  const askQuestions = said => ask({ kind: "questions", ...said });
  /** @param {{}} said @returns {Promise<import("../../generated/contract").WrittenFile>} */
  const askFile = ask;
  /** @param {{}} said @returns {Promise<import("../../generated/contract").WrittenPage>} */
  const askPage = said => ask({ kind: "page", ...said });
  /** @param {{}} said @returns {Promise<import("../../generated/contract").OpenedTalk>} */
  const askTalk = said => ask({ kind: "talk", ...said });
  /** @param {{}} said @returns {Promise<import("../../generated/contract").ShownUploads>} */
  const askUploads = said => ask({ kind: "uploads", ...said });
  const fetched = async moment => {
    const sent = await ask({ kind: "moment", moment, uploads: await uploads.of(uploadsOf([moment])) });
    return { ...sent, document: templates.whole({ pass: sent.document }).pass };
  };
  const whole = async talk => ({ ...talk, uploads: await uploads.of(uploadsOf(talk.moment)) });
  const kept = makeMoments(fetched, JSON.stringify); // that have come, by what they are made of: some go on without a server
  return {
    moment: kept.get,
    questions: async moment => {
      const files = await uploads.of(uploadsOf([moment]));
      return (await askQuestions({ at: moment.at, uploads: files })).questions;
    },
    fileOf: async talk => (await askFile({ kind: "file", talk: await whole(talk) })).file,
    questionsFileOf: async (talk, form) => (await askFile({ kind: "export", form, talk: await whole(talk) })).file,
    pageOf: async talk => (await askPage({ talk: await whole(talk) })).page,
    // The talk of a file, a link or a lesson; its files are kept.
    async talkOf(said) {
      const { uploads: files, ...talk } = (await askTalk(said)).talk;
      await uploads.keep(files);
      return talk;
    },
    // The names of the files that a scene of a tab shows, which are kept.
    async uploadsOfScene(tab, at) {
      const { uploads: files } = await askUploads({ tab, at });
      await uploads.keep(files);
      return Object.keys(files);
    },
    areKept: moments => uploads.areKept(uploadsOf(moments)),
    // Gives a tab the files of these names.
    give: async (tab, names) => ask({ kind: "give", tab, uploads: await uploads.of(names) }),
    sizeOf: async moments => Object.values(await uploads.of(uploadsOf(moments))).join("").length,
  };
}

// The sentence on an error in asking.
export function sayingOf(error) {
  return error instanceof TypeError ? "The server doesn’t answer. Your talk is still here." : error.message;
}
