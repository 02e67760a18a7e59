// Reports each test of a run of node as a line of JSON: {name, error}, where `error` is "" if it passed.
export default async function* report(events) {
  for await (const { type, data } of events) {
    if (type !== "test:pass" && type !== "test:fail") continue;
    const cause = data.details.error?.cause ?? data.details.error,
      skipped = data.skip === undefined && data.todo === undefined ? "" : "skipped",
      error = type === "test:pass" ? skipped : String(cause?.stack ?? cause);
    yield `${JSON.stringify({ name: data.name, error })}\n`;
  }
}
