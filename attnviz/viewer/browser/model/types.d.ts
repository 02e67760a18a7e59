// Types that the browser's code shares. What is sent is in generated/contract.d.ts; this is what is made of it.
import type * as contract from "../../generated/contract";
import type { placing } from "./pass";

declare global {
  type Where = contract.Where & { from: string };
  type Selected = contract.Selected;
  type Step = contract.Step;

  interface Cell {
    name: string;
    index: number[];
  }

  /** A stage of a pass: its shape, how many numbers it has, and the flat places of those that were set by hand. */
  interface Stage extends Omit<contract.Stage, "overridden"> {
    shape: number[];
    length: number;
    overridden: { size: number; has(place: number): boolean };
  }

  /** The stages of a pass by name. Every name that a document holds is there. */
  interface Stages extends Omit<Map<string, Stage>, "get"> {
    get(name: string): Stage;
  }

  /** A line of terms: the cells that are multiplied in it, what is said of them, and what comes out. */
  interface Line {
    cells: Cell[];
    text: string;
    value: number;
    place?: Piece;
  }

  interface Terms {
    lines: Line[];
    conclusion: string;
    formula: string;
    recipe: string;
    between: string;
  }

  /** A part of a sentence: `cell` where it is the number of one. */
  interface Piece {
    text: string;
    style?: string;
    cell?: Cell;
  }

  /** A pass, as pass.js reads it. */
  interface Pass extends ReturnType<typeof placing> {
    document: contract.Document;
    stages: Stages;
    other: Pass | null;
    numbers(name: string): Float64Array;
    number(name: string, index: number[]): number | undefined;
    row(name: string, index: number[]): Float64Array;
    isChanged: boolean;
    isOverridden(name: string, index: number[]): boolean;
    isHidden(name: string, index: number[]): boolean;
    isUnseen(name: string, index: number[]): boolean;
    isUnseeing(name: string, selection: Selected): boolean;
    nearestStep(id: string): string;
    firstSentWith(name: string, index: number[]): string;
    stepOf(name: string): contract.Step;
    terms(name: string, index: number[]): Terms | null;
    cellsOf(name: string, index: number[]): Cell[];
    named(name: string, array: string, index: number[]): Float64Array;
    story(name: string, index: number[], selection: Selected): Piece[];
    selectionStory(story: contract.Story, selection: Selected, gapAt?: (cell: Cell) => unknown): Piece[];
    selectionHand(story: contract.Story, selection: Selected): { told: Cell[]; others: Cell[] };
    parts(name: string, index: number[]): Map<string, Float64Array>;
    with(values: Record<string, unknown>): Pass;
  }

  /** What the pictures show of a pass, as looks.js makes it. */
  interface Look {
    kind: string;
    pass: Pass;
    nameOf(name: string, index: number[]): string;
    titleOf(name: string): string;
    reveal: string;
    lines: number | null;
    shown(name: string, index?: number[], array?: string): boolean;
    colours: Record<string, any>;
    pair: (Pair & { look: Look }) | null;
    isWorksheet?: boolean;
  }

  /** Another pass beside one, as pair.js makes it. */
  interface Pair {
    pass: Pass;
    where: Where;
    isThere: boolean;
    order: Record<string, number[]>;
    toA(name: string, index: number[]): number[] | null;
    toB(name: string, index: number[]): number[] | null;
    isApart(name: string, index: number[]): boolean;
  }

  /** Where the viewer stands, as viewer.js says it. */
  interface Host {
    send(event: string, message: unknown): unknown;
    type(): void;
    example?(): boolean;
    address: { read(): string; write(search: string, isNewPlace: boolean): void; onArrival(listen: () => void): () => void };
    page?: { bytes: number; shell(): Node | Promise<Node> };
    alone?: string;
    collect?(pass: Pass, where: Where): boolean;
    classBar?: (lead: (at: string, isShown: boolean) => boolean, changed: () => void, isPresented: () => boolean) => any;
  }

  /** A part of the viewer, with whatever else it can do. */
  interface View {
    element: HTMLElement;
    update(pass: Pass, where: Where, look: Look): void;
    [name: string]: any;
  }
}
