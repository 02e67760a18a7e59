// The link of a talk: the list as JSON, compressed, in base64 for addresses, behind the # of its address, so that no server sees it.

export const MOST = 6000; // characters; some programs cut longer links off
const NAME = "#talk=";
const MOST_BYTES = 400_000; // of what is unpacked, as core/limits has it
const FORMAT = "deflate-raw";
const BROKEN =
  "The link of the talk is broken: it was cut off, or changed on its way. Ask for it again, or for the talk’s file.";

export async function packed(talk) {
  const bytes = await through(new CompressionStream(FORMAT), new TextEncoder().encode(JSON.stringify(talk)), Infinity);
  const text = Array.from(bytes, byte => String.fromCharCode(byte)).join("");
  return NAME + btoa(text).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}

// The talk that a hash holds, as JSON; null where it holds none.
export async function unpacked(hash) {
  if (!hash.startsWith(NAME)) return null;
  try {
    const text = atob(hash.slice(NAME.length).replaceAll("-", "+").replaceAll("_", "/"));
    const bytes = Uint8Array.from(text, sign => sign.charCodeAt(0));
    return new TextDecoder("utf-8", { fatal: true }).decode(
      await through(new DecompressionStream(FORMAT), bytes, MOST_BYTES),
    );
  } catch {
    throw new Error(BROKEN);
  }
}

async function through(stream, bytes, most) {
  const writer = stream.writable.getWriter();
  const isWritten = writer.write(bytes).then(() => writer.close());
  isWritten.catch(() => {}); // reading fails too, and says so
  const pieces = [];
  let size = 0;
  const reader = stream.readable.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    pieces.push(value);
    size += value.length;
    if (size > most) throw new Error(BROKEN);
  }
  return new Uint8Array(await new Blob(pieces).arrayBuffer());
}
