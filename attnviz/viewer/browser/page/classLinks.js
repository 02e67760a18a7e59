// Where the pages of a class lead: to a moment or a scene, and after the speaker's other device.

export const hrefOf = (site, at) => String(new URL(at.startsWith("lesson=") ? `?${at}` : `walkthrough?${at}`, site));

export function openTalk(site, speaker) {
  location.assign(new URL(`?room=${speaker.room?.code}`, site));
}

// Follows the speaker's other device to an address on another page.
export function openFor(site, speaker, number, at, isPresented) {
  speaker.leaves(number);
  location.assign(hrefOf(site, isPresented ? `${at}&present=1` : at));
}
