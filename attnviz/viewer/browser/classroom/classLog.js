// The log of a class (room_log.py), from which the browser that opened the room reopens it after the server has lost it. It is stored with the
// tab, so it survives a reload and is gone with the tab.
import { readStored, removeStored, writeStored } from "../lesson/memory.js";

const NAME = "attnviz class log"; // {length, name}; its commands are in pieces, so that an answer doesn't write all of them
const PIECE = 200; // commands

const pieceName = nth => `${NAME} ${nth}`;

export function makeClassLog(storeOf) {
  let { commands, name } = readLog(storeOf),
    nStored = Math.ceil(commands.length / PIECE), // pieces
    isStored = true; // until the storage is full: then it lasts as long as the page
  function erase() {
    for (; nStored > 0; nStored -= 1) removeStored(storeOf, pieceName(nStored - 1));
    removeStored(storeOf, NAME);
  }
  function store(start) {
    nStored = Math.max(nStored, Math.ceil(commands.length / PIECE));
    for (let nth = Math.floor(start / PIECE); nth * PIECE < commands.length; nth += 1)
      isStored &&= writeStored(storeOf, pieceName(nth), commands.slice(nth * PIECE, (nth + 1) * PIECE));
    isStored &&= writeStored(storeOf, NAME, { length: commands.length, name });
    if (!isStored) erase();
  }
  return {
    get commands() {
      return commands;
    },
    // What this browser has, as the server asks for it.
    known: () => `${commands.length}-${name}`,
    // Takes a LogPart of generated/contract.d.ts.
    add(part) {
      commands = [...commands.slice(0, part.start), ...part.commands];
      ({ name } = part);
      if (isStored) store(part.start);
    },
    erase() {
      erase();
      [commands, name, isStored] = [[], "", true];
    },
  };
}

function readLog(storeOf) {
  const { length = 0, name = "" } = readStored(storeOf, NAME) ?? {},
    nPieces = Math.ceil(length / PIECE),
    commands = Array.from({ length: nPieces }, (_, nth) => readStored(storeOf, pieceName(nth)) ?? []).flat();
  return commands.length === length ? { commands, name } : { commands: [], name: "" };
}
