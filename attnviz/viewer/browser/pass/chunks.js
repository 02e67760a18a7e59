// Chunks: the numbers of an array as a document has them, one text for each head, or one for all; where they are all the
// same, the text has one. A number that was not sent is NaN, which no number of a pass is.

export function numbersOf(chunks, length) {
  const numbers = new Float64Array(length).fill(Number.NaN),
    size = length / chunks.length;
  chunks.forEach((chunk, place) => {
    if (chunk === null) return;
    const sent = decoded(chunk);
    if (sent.length === 1) numbers.fill(sent[0], place * size, (place + 1) * size);
    else numbers.set(sent, place * size);
  });
  return numbers;
}

function decoded(chunk) {
  const text = atob(chunk);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i += 1) bytes[i] = text.charCodeAt(i);
  return new Float64Array(bytes.buffer);
}
