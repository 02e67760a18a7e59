// The desk of one's own talk: the talk as it is kept, the drawer that shows it, and its ways out of this browser and into it.
import { button } from "../elements/button.js";
import { element } from "../elements/element.js";
import { sayingOf } from "./talkAsking.js";
import { makeTalkDrawer } from "./talkDrawer.js";
import { unpacked } from "./talkLink.js";
import { added, entryOf, ID, MOST_MOMENTS } from "./talkList.js";
import { MOST_CHARACTERS } from "./talkUploads.js";
import { makeTalkWays } from "./talkWays.js";

const TOO_LARGE = "A talk holds at most 8 MiB of your own numbers, and with these it would have more.";
const FULL = `A talk has at most ${MOST_MOMENTS} moments: delete one first.`;

// `own` is the talk as it is kept, `asking` what asks the server about it; host: {site, give(place, what), open(moment)}: give() leads to a
// place of the talk, and does there what is said, "print" or "openClass".
// Returns {standIn(home), collect({at, picture}, tab), open(), ...}.
export function makeTalkDesk(own, asking, host) {
  const chooser = element("input");
  Object.assign(chooser, { type: "file", accept: ".toml", hidden: true });
  chooser.onchange = async () => {
    const [file] = chooser.files;
    chooser.value = "";
    if (file) take({ file: await file.text() }, `Opened ${file.name}.`);
  };
  const opening = button("Open a file", () => chooser.click());
  opening.dataset.always = "true";
  const give = (moment, present, what) => {
    drawer.close();
    host.give({ lesson: ID, moment, present }, what);
  };
  const ways = makeTalkWays(own, asking, host.site, {
    say: text => drawer.say(text),
    doThere: what => give(1, false, what),
  });
  const drawer = makeTalkDrawer(own, asking, {
    give: moment => give(moment, true),
    open: moment => {
      drawer.close();
      host.open(moment);
    },
    ways: [...ways.buttons, opening],
    code: ways.code,
  });
  drawer.element.append(chooser, ways.panel);
  const refuse = said => {
    drawer.open();
    drawer.say(said);
  };
  // Another talk takes the place of this one, which Undo brings back. Returns whether there is one.
  async function take(said, done, refused = drawer.say) {
    try {
      const talk = await asking.talkOf(said);
      own.change({ title: talk.title ?? "", moment: talk.moment ?? [] });
      drawer.say(`${done} Undo brings back what was here.`);
      return true;
    } catch (error) {
      refused(sayingOf(error));
      return false;
    }
  }
  return {
    standIn: drawer.standIn,
    open: () => drawer.open(),
    // Keeps a scene, and its small picture, as the last moment; `tab` is the one that has the files of one's own which it shows.
    async collect({ at, picture }, tab) {
      const n = own.talk.moment.length;
      if (n >= MOST_MOMENTS) return refuse(FULL);
      try {
        const uploads = tab ? await asking.uploadsOfScene(tab, at) : [],
          moment = uploads.length ? { at, uploads } : { at };
        if ((await asking.sizeOf([...own.talk.moment, moment])) > MOST_CHARACTERS) return refuse(TOO_LARGE);
        own.keepPicture(at, picture);
        own.change(added(own.talk, moment));
        drawer.open(n);
      } catch (error) {
        refuse(sayingOf(error));
      }
    },
    // A moment of a lesson, as the last one.
    async collectFrom({ lesson, moment }) {
      drawer.open();
      if (lesson === ID) return;
      if (own.talk.moment.length >= MOST_MOMENTS) return drawer.say(FULL);
      try {
        const { moment: all } = await asking.talkOf({ lesson });
        own.change(added(own.talk, all[moment - 1]));
        drawer.open(own.talk.moment.length - 1);
      } catch (error) {
        drawer.say(sayingOf(error));
      }
    },
    // A lesson, as a start.
    startFrom: async lesson => {
      drawer.open();
      await take({ lesson }, "");
    },
    // The talk of a link. Returns whether it is here now; what is wrong with it is said in the drawer.
    async arrive(hash) {
      const json = await unpacked(hash).catch(error => {
        refuse(error.message);
        return null;
      });
      return json !== null && take({ json }, "", refuse);
    },
    entry: () => entryOf(own.talk),
    momentAt: ({ moment }) => own.talk.moment[moment - 1],
    fetched: ({ moment }) => asking.moment(own.talk.moment[moment - 1]),
    questions: form => asking.questionsFileOf(own.talk, form),
    talk: () => own.talk,
    onChange: own.onChange,
  };
}
