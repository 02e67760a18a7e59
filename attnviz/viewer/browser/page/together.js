// What comes late in the app, of lessons on a page that has all of its scripts in one.
import { makeHandout } from "../lesson/handout.js";
import { makeMomentPicture } from "../lesson/momentPicture.js";
import { makeSpeakerPanel } from "../lesson/speakerWindow.js";
import { readPass } from "../model/pass.js";
import { makeGlossary } from "../views/glossary.js";
import { makeQrCode } from "../views/qrCode.js";

const PARTS = {
  lessonPictures: { makeGlossary, makeHandout, makeMomentPicture, readPass },
  talk: { makeSpeakerPanel },
  teaching: { makeQrCode },
};

export const late = async name => PARTS[name];
