// The pool: data that was written with each of its parts a single time (../../pool.py). Parts that are the same are one object.

const NAME = "$";

export function unpooled({ parts, whole }) {
  const made = [];
  const read = data => {
    if (Array.isArray(data)) return data.map(read);
    if (typeof data !== "object" || data === null) return data;
    if (NAME in data) return made[data[NAME]];
    return Object.fromEntries(Object.entries(data).map(([name, part]) => [name, read(part)]));
  };
  for (const part of parts) made.push(read(part));
  return read(whole);
}
