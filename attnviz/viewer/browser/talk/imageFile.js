// An image for a slide, from a file of the user's: what it is by its bytes, and whether a talk has room for it.

// As in core/limits.py
const MAX_BYTES = 300_000,
  MAX_CHARACTERS = 2_600_000; // of all images of a talk, as base64

/** "" for other files; as in lessons/slide.py. @param {string} text the bytes as characters */
function typeOf(text) {
  if (text.startsWith("\x89PNG\r\n\x1a\n")) return "png";
  if (text.startsWith("\xff\xd8\xff")) return "jpeg";
  return text.startsWith("RIFF") && text.startsWith("WEBP", 8) ? "webp" : "";
}

const kilobytes = bytes => `${Math.ceil(bytes / 1000).toLocaleString("en")} kB`;

/** The file as base64; an error says why a slide can't have it. `used` are the characters of the talk's other images.
 * @param {File} file @param {number} used */
export async function readImage(file, used) {
  const { size, name } = file;
  if (size > MAX_BYTES)
    throw new Error(
      `An image has at most ${kilobytes(MAX_BYTES)}, and ${named(name)} has ${kilobytes(size)}. Save it smaller, as JPEG or WebP.`,
    );
  const bytes = new Uint8Array(await file.arrayBuffer()),
    text = Array.from(bytes, byte => String.fromCharCode(byte)).join("");
  if (!typeOf(text))
    throw new Error(`An image is a PNG, a JPEG or a WebP, and ${named(name)} is none of them. Save it as one.`);
  const base64 = btoa(text);
  if (used + base64.length > MAX_CHARACTERS) {
    const [most, all] = [MAX_CHARACTERS, used + base64.length].map(characters => kilobytes((3 * characters) / 4));
    throw new Error(`A talk has at most ${most} of images, and with ${named(name)} it would have ${all}.`);
  }
  return base64;
}

const named = name => (name ? `“${name}”` : "this one");

/** @param {Crypto} crypto */
export const newImageName = crypto =>
  `image-${Array.from(crypto.getRandomValues(new Uint32Array(2)), part => part.toString(16).padStart(8, "0")).join("")}`;

/** The image that is dropped or pasted; undefined where there is none. @param {DataTransfer | null} transfer */
export const imageIn = transfer => [...(transfer?.files ?? [])].find(({ type }) => type.startsWith("image/"));

/** @param {string} base64 */
export const imageUrl = base64 => `data:image/${typeOf(atob(base64.slice(0, 16)))};base64,${base64}`;
