// What of lean-qr is used here.
export const mode: { ascii(text: string): unknown };
export function generate(data: unknown): { size: number; get(x: number, y: number): boolean };
