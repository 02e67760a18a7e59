// What a phone in a class loads once somebody touches a picture: the whole viewer.
import { makeClassViewer } from "../classroom/classViewer.js";
import { makeMomentPicture } from "../lesson/momentPicture.js";

export default function () {
  return { makeClassViewer, makeMomentPicture };
}
