// Entry point of the script that a phone in a class loads when its picture is touched: the whole viewer.
import { makeClassViewer } from "../classroom/classViewer.js";
import { makeMomentPicture } from "../lesson/momentPicture.js";

export default function () {
  return { makeClassViewer, makeMomentPicture };
}
