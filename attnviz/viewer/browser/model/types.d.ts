// Types that the browser's code shares. What is sent is in generated/contract.d.ts; this is what is made of it.
import type * as contract from "../../generated/contract";

declare global {
  /** `kept` are the cells that the user picked in layers of other words, and `landed` the cell at which this layer was entered. */
  type Where = Omit<contract.Where, "cell"> & { cell: Selected; from: string; kept?: Record<number, Selected>; landed?: Selected };
  /** `layer` is the layer whose words it is of, where these differ. */
  type Selected = contract.Selected & { layer?: number };
  type Step = contract.Step;
  /** `text` is which of the texts its words are of, where a pass has several. */
  type Axis = contract.Axis & { text?: string };
  type Band = contract.Band;
  type Matrix = contract.Matrix;
  type Words = contract.Words;
  type Rule = contract.Rule;
  type RuleLine = contract.RuleLine;
  type ContractStage = contract.Stage;
  type ContractPicture = contract.Picture;
  type ContractDocument = contract.Document;
  /** When a story holds, and its template. */
  type StoryOf = contract.Story["stories"][number];
  /** The position in another pass for one on an axis of a stage; null where there is none. */
  type PositionOf = (stage: string, axis: Axis, position: number) => number | null;

  /** How many cells of the selected row, and how many rows, are shown. */
  interface Progress {
    cells: number;
    rows: number | null;
  }

  /** The text of a slot of a story for a cell, or a piece with its number; undefined where there is nothing to say. */
  type Format = (pass: Pass, cell: Cell) => any;

  /** Part of Play: what is shown and for how long. */
  interface Tick {
    step?: string;
    reveal: number | null;
    part: number | null;
    ms: number;
  }

  /** A band on the page of the sheet, and how far it has come. */
  interface BandState {
    step: Pick<Step, "sources"> & Partial<Step>;
    band: Band;
    isThere: boolean;
    isWhole: boolean;
    isLit: boolean;
    multiplies: boolean;
  }

  /** A formula as MathML. */
  interface Tree {
    tag: string;
    attributes: Record<string, string>;
    children: (Tree | string)[];
  }

  /** The axes of an array as a rule writes them, and how far a step along each letter leads. */
  interface Pattern {
    axes: string[][];
    letters: string[];
    steps: Record<string, number>;
    sizes: Record<string, number>;
    length: number;
  }

  /** An array that a rule reads. */
  interface RuleSlot {
    source: string;
    pattern: Pattern;
    numbers(): Float64Array;
    runs: boolean;
    count: number;
  }

  /** A line of a rule's variant. */
  interface ReadLine {
    cells: RuleSlot[];
    text: string;
    value: RuleSlot | undefined;
    isExponential: boolean;
    countAt(positions: Record<string, number>): number;
  }

  /** A rule, as rule.js reads it. */
  interface ReadRule {
    result: Pattern;
    slots: Map<string, RuleSlot>;
    chosen: RuleSlot | null;
    running: number;
    variants: (Omit<contract.RuleVariant, "lines"> & { lines: ReadLine[] })[];
  }

  /** A slice of a stage, as slice.js makes it. */
  interface Slice {
    name: string;
    spec: Matrix;
    stage: Stage;
    word: string;
    rows: Axis;
    columns: Axis;
    symbol: string;
    size: number[];
    index(row: number, column: number): number[];
    positionOf(index: number[]): number[] | null;
    side?: string;
  }

  /** A part of a text: its style, and what is written in it. */
  type Run = [style: string, text: any];

  /** The page's address, as history.js keeps it. */
  interface Address {
    read(): string;
    write(search: string, isNewPlace: boolean): void;
    setParameters(parameters: Record<string, string | null>): void;
    move(): void;
    dropHash(): void;
    show(now: { page: string; address: Record<string, string | null>; read: string }): void;
    readAgain(): void;
    onNavigate(listener: () => void): () => void;
  }

  /** The templates that the browser has, as templates.js keeps them. */
  interface Templates {
    names: string[];
    completeDocument(sent: any): contract.Document;
    completeMoment(moment: any): contract.Moment;
    complete(answer: any): contract.SceneReply & { lessons?: contract.LessonEntry[] };
  }

  /** What the server answers, as ask() returns it. */
  interface Reply {
    isDone: boolean;
    status: number;
    type: string;
    message: string;
    data: any;
  }

  /** The routes of a class; see makeClassApi() in server.js. */
  interface ClassApi {
    post(code: string, message: object, key?: string): Promise<Reply>;
    moment(code: string, seat: string, shows: number, options?: { isWhole?: boolean }): Promise<Reply>;
    reopen(room: contract.Seat, commands: string[]): Promise<Reply>;
    talkHref(code: string, seat: string): string;
    listen(seat: { code: string; seat: string }, isAround: () => boolean, handlers: ClassHandlers): () => void;
  }

  interface ClassHandlers {
    now(state: contract.ClassNow): void;
    own(received: contract.OwnNow): void;
    lost(): void;
    gone(message: string, status: number): void;
    /** For the browser that opened the room: what it has of the room's log, and the rest as it comes. */
    known?(): string;
    log?(part: contract.LogPart): void;
  }

  /** The user's file, the tab that it was sent for, and the report on it. */
  interface UserFile {
    name: string;
    bytes: BlobPart;
    answers: Record<string, any>;
    tab: string | null;
    pieces: any[] | null;
  }

  /** The space for a step's matrices, in pixels. */
  interface Space {
    isPaper: boolean;
    isNarrow: boolean;
    isSmall: boolean;
    family: string;
    base: number;
    top: number;
    least: number;
    width: number;
    height: number;
    isScrolled?: boolean;
  }

  /** The space that one matrix needs: how many cells it has; the widths of its texts in units of the font's size, 0 where there is none; what
   * its labels say; and whether heads are named over it. */
  interface FitBlock
    extends Record<"rows" | "columns" | "rowLabel" | "columnLabel" | "before" | "after", number>,
      Record<"sums" | "caption" | "symbol" | "digits", number> {
    rowNames: string;
    columnNames: string;
    bands: boolean;
  }

  /** Rows of matrices, and whether its one row may stand as several. */
  interface FitPicture {
    grid: (FitBlock | null)[][];
    turns: boolean;
  }

  /** Font sizes of digits and of the text around; in units of the digits' how large labels are, what is free beside digits, and a line's height. */
  interface FitOptions extends Record<"smallest" | "largest" | "base" | "labels" | "around" | "line", number> {
    caption?: number;
    least?: number;
  }

  /** One way to place pictures: whether the grids stand beside each other, and what is written over the blocks. */
  interface Arrangement {
    grids: (FitBlock | null)[][][];
    beside: boolean;
    named: "caption" | "symbol";
  }

  interface Letters {
    font: number;
    label: number;
    written: boolean;
  }

  /** How large a cell is, how many there are across and down, and of each block its upper left {x, y}, the space of its caption and labels,
   * and whether those of columns stand upright and all are there. */
  interface Layout extends Letters {
    cell: number[];
    cells: number[];
    titled: boolean;
    width: number;
    height: number;
    pictures: any[][][];
  }

  /** The heads of a stage side by side, with the size of a cell. */
  interface Tiling extends Record<"heads" | "apart" | "rows" | "columns" | "across" | "cell" | "width" | "height", number> {
    hasHeads: boolean;
    shape: number[];
  }

  type Colour = number[];

  /** The colours of a page. */
  interface Ramps extends Record<"plus" | "minus" | "attention" | "zero", Colour> {} // the ends of a theme's ramps
  interface Colours extends Ramps, Record<"page" | "text", Colour> {}

  interface Cell {
    name: string;
    index: number[];
  }

  /** A stage of a pass: its shape, how many numbers it has, and the flat places of those that were set by hand. */
  interface Stage extends Omit<contract.Stage, "overridden" | "axes"> {
    axes: Axis[];
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

  /** Converts between selections, addresses and indices; see placing() in pass.js. */
  interface Placing {
    indexAt(name: string, selection: Selected): number[];
    selectionAt(name: string, index: number[], selection: Selected): Selected;
    within(selection: Selected): Selected;
    axisOf(wanted: string, name: string): Axis | undefined;
    address(name: string, index: number[]): string;
    read(address: string): Cell | null;
    nameOf(name: string, index: number[]): string;
    symbol(name: string, head: number): string;
  }

  /** A pass, as pass.js reads it. */
  interface Pass extends Placing {
    document: contract.Document;
    stages: Stages;
    other: Pass | null;
    numbers(name: string): Float64Array;
    number(name: string, index: number[]): number | undefined;
    row(name: string, index: number[]): Float64Array;
    wordsAt(step: string): Words;
    layerAt(step: string): number;
    carried(cell: Selected, layer: number): Selected;
    canSelect(name: string, layer: number): boolean;
    indexOfSame(name: string, index: number[], other: string): number[] | null;
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
    colours: Colours;
    pair: (Pair & { look: Look }) | null;
    isWorksheet?: boolean;
    /** Whether a question is open: what is set by hand, or wrong, may be its answer. */
    isAsked?: boolean;
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
    address: { read(): string; write(search: string, isNewPlace: boolean): void; onNavigate(listen: () => void): () => void };
    page?: { bytes: number; shell(): Node | Promise<Node> };
    alone?: string;
    talk?: { collect(pass: Pass, where: Where): boolean; open(): void; label(): string };
    versions?(pass: Pass, where: Where, n: number): Promise<any[]>;
    classBar?: (host: any) => any;
  }

  /** A part of the viewer, with whatever else it can do. */
  interface View {
    element: HTMLElement;
    update(pass: Pass, where: Where, look: Look): void;
    [name: string]: any;
  }
}
