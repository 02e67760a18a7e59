// Depths: the stages of a step of the map in columns, each after those of them that it was computed from.

export function depthsOf(stages, arrows) {
  const depths = new Map();
  for (const stage of stages) {
    const before = arrows
      .filter(([from, to]) => to === stage && depths.has(from))
      .map(([from]) => depths.get(from) + 1);
    depths.set(stage, Math.max(0, ...before));
  }
  return Array.from({ length: Math.max(-1, ...depths.values()) + 1 }, (_, depth) =>
    stages.filter(stage => depths.get(stage) === depth),
  );
}
