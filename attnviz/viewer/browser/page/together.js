// The parts that load late in the app, for a page that has all of its code in one script.
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

export const loadScript = async name => PARTS[name];
