// Made from attnviz/contract by `python -m attnviz.contract.typescript`. Change it there.

/** All that the browser shows of a scene, after a page load or an action. */
export interface SceneReply {
  tab: string;
  number: number;
  view: "audit" | "pass" | "script";
  settings: Settings;
  notices: Array<string>;
  offers: Array<ActionLink>;
  lacksFile: boolean;
  byHand: Array<["" | "code" | "em" | "k" | "math" | "output" | "q" | "story" | "strong" | "v" | "verdict" | "word", string | Story]> | null;
  address: Record<string, string | null>;
  pass?: Document | null;
  audit?: Verdict | null;
  script?: Program | null;
}

/** A moment of a lesson or of a talk. */
export interface Moment {
  id: string;
  title: string;
  recall: Recall | null;
  why: Array<["" | "code" | "em" | "k" | "math" | "output" | "q" | "story" | "strong" | "v" | "verdict" | "word" | "number", string | NumberLink]>;
  isOptional: boolean;
  worked: Array<Array<["" | "code" | "em" | "k" | "math" | "output" | "q" | "story" | "strong" | "v" | "verdict" | "word" | "number", string | NumberLink]>>;
  text: Array<["" | "code" | "em" | "k" | "math" | "output" | "q" | "story" | "strong" | "v" | "verdict" | "word" | "number", string | NumberLink]>;
  after: Array<["" | "code" | "em" | "k" | "math" | "output" | "q" | "story" | "strong" | "v" | "verdict" | "word" | "number", string | NumberLink]>;
  question: Pick | Choose | Fill | Gaps | Write | null;
  asksConfidence: boolean;
  given: Array<GivenRow>;
  covers: Array<string>;
  askedCell: string | null;
  answerCell: string | null;
  saysWordsAlone: boolean;
  at: string;
  notes: string;
  ending: Ending | null;
  workedSolution: WorkedSolution | null;
  picture: WrongMask | Sweep | Slide | null;
  glance: Glance | null;
  document: Document | null;
}

/** The page of lessons: their list; the browser requests their moments one by one. */
export interface LessonsPage {
  lessons: Array<LessonEntry>;
  ownSentence: string;
}

/** An article, or the report on an uploaded file. */
export interface Article {
  pieces: Array<Heading | Paragraph | DoorButton | Frame | Columns | Alternatives | Table | NumberTable>;
  file?: string;
}

/** A viewer's request for actions. */
export interface ActionsRequest {
  tab: string;
  address: Record<string, string | null>;
  look: string;
  view: "audit" | "pass" | "script";
  actions: Array<[unknown, unknown]>;
  templates: Array<string>;
}

/** A class, as it is now. */
export interface ClassNow {
  number: number;
  at: string;
  shows: number;
  kind: "lesson" | "pass" | "question" | "talk";
  question: CellQuestion | null;
  isOwn: boolean;
  isShown: boolean;
  round: Round | null;
  talkSeconds: number;
  wonders: Array<Wondered> | null;
  hasEnded: boolean;
  waits: boolean;
  isApart: boolean;
  audience?: Audience;
}

/** What a seat has said, after a reload. */
export interface OwnNow {
  answers: Array<OwnAnswer>;
  wondered: string;
  votes: Array<number>;
}

/** A part of a room's log, for the browser that opened it: it replaces what that has from `start` on. */
export interface LogPart {
  start: number;
  commands: Array<string>;
  name: string;
}

/** A seat in a class. */
export interface Seat {
  code: string;
  seat: string;
  host: string;
  key?: string;
  link?: string;
}

/** The place that the speaker led the class to: its number, and whether it shows uploaded numbers. */
export interface Led {
  number: number;
  leads: number;
  isOwn: boolean;
  lacksImage: boolean;
}

/** The code with which the speaker's second device joins. */
export interface Offer {
  code: string;
}

/** The questions that can be asked about a scene. */
export interface SuggestedQuestions {
  questions: Array<SuggestedQuestion>;
}

/** The talk read from a file, a link or a lesson. */
export interface OpenedTalk {
  talk: OwnTalk;
}

/** The uploaded files that a scene shows, as base64, by name. */
export interface ShownUploads {
  uploads: Record<string, string>;
}

/** A talk as a file, or its questions. */
export interface WrittenFile {
  file: string;
}

/** A talk as one HTML file. */
export interface WrittenPage {
  page: string;
}

/** A document as it is sent; the browser may already have the parts that it shares with other documents. */
export interface SentDocument {
  stages: Record<string, StageNumbers>;
  starts: Array<Selected>;
  typed: number;
  changes: Array<ChangeMade>;
  moved: Array<Moved>;
  before: Record<string, Array<string | null>>;
  slopes: Slopes | null;
  flips: Flips | null;
  caption: string;
  link: Record<string, string>;
  door: ActionLink | null;
  offer: ActionLink | null;
  model: Model | null;
  pairs: Array<SuggestedPair>;
  next: Next | null;
  painted: boolean | null;
  measured: Record<string, string>;
  template: SentShape;
  parameters: SentParameters;
  where: Where;
  arrival: number;
  other: SentOther | null;
}

/** The controls of a scene: the main ones in a line, and the rest. */
export interface Settings {
  line: Array<Choice | Text | Button | Pills | Switch | Note | Heading>;
  more: Array<Choice | Text | Button | Pills | Switch | Note | Heading>;
}

/** What only the speaker gets. */
export interface Audience {
  here: number;
  around: number;
  answered: number;
  counts: Array<Array<[number, number]>>;
  sure: Array<Array<[number, number, number]>>;
  moves: Array<[number, number, number]>;
  texts: Array<Written>;
  wondered: Array<Written>;
  pointed: Array<Pointed>;
  pressed: number;
  presses: Array<"answers" | "back" | "next" | "reveal">;
  showsClass: boolean;
  offer: string;
  leads: number;
}

/** A talk's title, its moments as in its file, and the images and uploaded files that they show, by name. */
export interface OwnTalk {
  title: string;
  moment: Array<Record<string, unknown>>;
  images: Record<string, string>;
  uploads: Record<string, string>;
}

/** A `PassShape` by name; its parts are null if the browser has them. */
export interface SentShape {
  name: string;
  parts: PassShape | null;
}

/** `PassParameters` by name; its parts are null if the browser has them. */
export interface SentParameters {
  name: string;
  parts: PassParameters | null;
}

/** Where in a pass somebody is looking. */
export interface Where {
  step: string;
  cell: Selected;
  picked: string;
  trail: Array<string>;
  ask: "made" | "slope" | "whatif";
  order: "index" | "large";
  view: "heads" | "matrices" | "sheet";
  present: boolean;
  reveal: number | null;
  compare: "both" | "difference";
  route: "every-step" | "short";
}

/** A link that performs an action. */
export interface ActionLink {
  event: string;
  value: string | number | boolean | [string, string];
  label: string;
}

/** A pass and where in it somebody is looking: all that the viewer needs. */
export interface Document {
  stages: Record<string, Stage>;
  steps: Array<Step>;
  nearest: Record<string, string>;
  map: Map;
  words: Words;
  layers: Array<LayerOfModel>;
  fractions: boolean;
  starts: Array<Selected>;
  typed: number;
  changes: Array<ChangeMade>;
  moved: Array<Moved>;
  before: Record<string, Array<string | null>>;
  slopes: Slopes | null;
  flips: Flips | null;
  caption: string;
  link: Record<string, string>;
  door: ActionLink | null;
  offer: ActionLink | null;
  model: Model | null;
  pairs: Array<SuggestedPair>;
  next: Next | null;
  painted: boolean | null;
  measured: Record<string, string>;
  where: Where;
  arrival: number;
  other: OtherPass | null;
}

/** The audit's verdict; for a large pass, a button that runs it. */
export interface Verdict {
  asks?: string;
  agrees?: boolean;
  sentence?: string;
  stages?: Array<StageAudit>;
}

/** The pass as a program. */
export interface Program {
  runs: Array<["" | "comment" | "function" | "keyword" | "number" | "string", string]>;
  torch: Array<["" | "comment" | "function" | "keyword" | "number" | "string", string]> | null;
  microgpt: Array<["" | "comment" | "function" | "keyword" | "number" | "string", string]> | null;
  file: File | null;
}

/** The moment of an earlier lesson that a moment asks about again. */
export interface Recall {
  lesson: string;
  id: string;
  name: string;
}

/** A question that is answered by clicking a word or a cell of the picture, or its label. */
export interface Pick {
  kind: "pick";
  prompt: Array<["" | "code" | "em" | "k" | "math" | "output" | "q" | "story" | "strong" | "v" | "verdict" | "word" | "number", string | NumberLink]>;
  candidates: Array<Candidate>;
  right: Array<number>;
}

/** A question with a few answers as buttons, or as lines of code. */
export interface Choose {
  kind: "choose";
  prompt: Array<["" | "code" | "em" | "k" | "math" | "output" | "q" | "story" | "strong" | "v" | "verdict" | "word" | "number", string | NumberLink]>;
  candidates: Array<Candidate>;
  right: Array<number>;
  isCode: boolean;
}

/** A question whose answer is a number, typed, or set on a slider if it is a share. */
export interface Fill {
  kind: "fill";
  prompt: Array<["" | "code" | "em" | "k" | "math" | "output" | "q" | "story" | "strong" | "v" | "verdict" | "word" | "number", string | NumberLink]>;
  right: number | null;
  text: string;
  tolerance: number;
  isShare: boolean;
  nears: Array<Near>;
  lead?: [number, number];
  score: string;
  unit: string;
}

/** A table in which the numbers of some cells are to be filled in. */
export interface Gaps {
  kind: "gaps";
  prompt: Array<["" | "code" | "em" | "k" | "math" | "output" | "q" | "story" | "strong" | "v" | "verdict" | "word" | "number", string | NumberLink]>;
  words: Array<string>;
  rows: Array<GapsRow>;
}

/** A question of a talk that a class answers in a few words of its own; it has no right answer. */
export interface Write {
  kind: "write";
  prompt: Array<["" | "code" | "em" | "k" | "math" | "output" | "q" | "story" | "strong" | "v" | "verdict" | "word" | "number", string | NumberLink]>;
}

/** Numbers that a question needs, as the picture writes them. */
export interface GivenRow {
  name: string;
  labels: Array<string>;
  texts: Array<string>;
  along: string;
}

/** The end of a lesson: a question to explain in your own words, kept in the browser alone, and an answer. */
export interface Ending {
  explain: Array<["" | "code" | "em" | "k" | "math" | "output" | "q" | "story" | "strong" | "v" | "verdict" | "word" | "number", string | NumberLink]>;
  answer: Array<["" | "code" | "em" | "k" | "math" | "output" | "q" | "story" | "strong" | "v" | "verdict" | "word" | "number", string | NumberLink]>;
  tell: Array<["" | "code" | "em" | "k" | "math" | "output" | "q" | "story" | "strong" | "v" | "verdict" | "word" | "number", string | NumberLink]>;
}

/** The computation of a number that is asked for, without the number itself. */
export interface WorkedSolution {
  formula: string;
  tables: Array<WorkedTable>;
}

/** A word's attention weights beside those that a mistake with the mask gives. */
export interface WrongMask {
  kind: "mistake";
  name: string;
  query: string;
  sides: [string, string];
  words: Array<string>;
  hidden: Array<boolean>;
  right: Array<number>;
  wrong: Array<number | null>;
  rightSum: number;
  wrongSum: number | null;
  laws: Array<string>;
}

/** Random scores at increasing d_k, for several divisors. */
export interface Sweep {
  kind: "sweep";
  nPairs: number;
  offered: Array<string>;
  divisors: Array<SweptDivisor>;
  divisor: string;
  dK: number;
}

/** A plain slide of a talk. */
export interface Slide {
  kind: "slide";
  text: string;
  items: Array<string>;
  image: string;
  alt: string;
}

/** A pass as a phone shows it before its viewer is loaded: its words, and where they look. */
export interface Glance {
  words: Array<string>;
  keys: Array<string> | null;
  sides: [string, string];
  query: number;
  stage: string;
  arcs: Array<[number, number, number]>;
  title: string;
  said: Array<["" | "code" | "em" | "k" | "math" | "output" | "q" | "story" | "strong" | "v" | "verdict" | "word", string | Story]>;
}

/** A lesson in the list of lessons. */
export interface LessonEntry {
  id: string;
  name: string;
  says: string;
  minutes: number;
  nMoments: number;
  why: string;
  moments: Array<MomentEntry>;
  terms: Array<ExplainedTerm>;
  tell: Array<["" | "code" | "em" | "k" | "math" | "output" | "q" | "story" | "strong" | "v" | "verdict" | "word", string | Story]>;
  planned: Array<number>;
}

/** A question on a cell: its number, its share, or the word with the largest number of its row. */
export interface CellQuestion {
  kind: "number" | "share" | "word";
  cell: string;
}

/** A round of answers to the current question. */
export interface Round {
  question: number;
  number: number;
  isOpen: boolean;
}

/** A seat's answer in a round of a question. */
export interface OwnAnswer {
  question: number;
  round: number;
  value: number | string;
  sure: number;
}

/** A question that can be asked about a scene. */
export interface SuggestedQuestion {
  ask: Record<string, unknown>;
  answer: string;
}

/** The numbers of a stage. */
export interface StageNumbers {
  limit: number;
  overridden: Array<[number, number]>;
  overriddenBy: string;
  marks: string;
  recipe: string;
  values?: Array<string | null>;
  rule?: RuleNumbers;
}

/** The selected cell, as an index from 0 on each kind of axis. */
export interface Selected {
  head: number;
  query: number;
  key: number;
  feature: number;
  dimension: number;
  answer: number;
  neuron: number;
}

/** A number set by hand. */
export interface ChangeMade {
  text: string;
  stage: string;
  index: Array<number | null>;
}

/** How far numbers set by hand moved a stage. */
export interface Moved {
  stage: string;
  text: string;
}

/** The gradients of a number. */
export interface Slopes {
  of: string;
  text: string;
  values: Record<string, Array<string | null>>;
}

/** The smallest changes that reverse the order of a row of attention weights or probabilities. */
export interface Flips {
  of: string;
  text: string;
  stages: Array<Flip>;
}

/** The model whose parameters the pass has. */
export interface Model {
  read: "each" | "last";
  answers: string;
  right: Array<string | null>;
  isOpen: boolean;
  guesses: boolean;
  training: Training | null;
  verdict: Array<["" | "code" | "em" | "k" | "math" | "output" | "q" | "story" | "strong" | "v" | "verdict" | "word", string | Story]>;
}

/** A pair of passes worth comparing. */
export interface SuggestedPair {
  id: string;
  label: string;
}

/** The tokens that may come next. */
export interface Next {
  drawing: Drawing | null;
  offered: Record<string, Array<number>>;
  weights: Array<number>;
  answer: number;
  ends: boolean;
  isFull: boolean;
  canShorten: boolean;
  parts: Writers | null;
  names: Names | null;
  kept: Array<Kept>;
  right: Array<string>;
}

/** Pass A of a comparison as it is sent; the browser may have parts of it. */
export interface SentOther {
  between: Array<[string, string, string]>;
  parted: string;
  first: string | null;
  places: Record<string, Array<number | null>>;
  stages: Record<string, StageDistance>;
  at: Array<number>;
  document: SentDocument;
}

/** The whole pass: its steps, and arrows from stage to stage. */
export interface Map {
  columns: Array<MapColumn>;
  arrows: Array<[string, string]>;
}

/** The words of a layer. */
export interface Words {
  query: Array<string>;
  key: Array<string>;
  shared: boolean;
  unit: string;
  sides: Array<string>;
}

/** A plain-text heading. */
export interface Heading {
  kind: "heading";
  level: number;
  text: string;
}

/** A paragraph. */
export interface Paragraph {
  kind: "text";
  runs: Array<["" | "code" | "em" | "k" | "math" | "output" | "q" | "story" | "strong" | "v" | "verdict" | "word" | "badge" | "right" | "wrong", string]>;
}

/** A button that opens another page, with a text. */
export interface DoorButton {
  kind: "door";
  door: string;
  label: string;
  runs: Array<["" | "code" | "em" | "k" | "math" | "output" | "q" | "story" | "strong" | "v" | "verdict" | "word" | "badge" | "right" | "wrong", string]>;
}

/** Framed pieces. */
export interface Frame {
  kind: "box";
  pieces: Array<Heading | Paragraph | DoorButton | Frame | Columns | Alternatives | Table | NumberTable>;
}

/** Pieces in columns, as many side by side as fit. */
export interface Columns {
  kind: "beside";
  columns: Array<Array<Heading | Paragraph | DoorButton | Frame | Columns | Alternatives | Table | NumberTable>>;
}

/** A choice, with the pieces of the chosen option below. */
export interface Alternatives {
  kind: "choice";
  event: string;
  label: string;
  look: "lines" | "pills";
  value: string;
  options: Array<Alternative>;
}

/** Words and numbers in rows. */
export interface Table {
  kind: "table";
  head: Array<string>;
  rows: Array<Array<string>>;
}

/** A matrix, in the colours of the walkthrough. */
export interface NumberTable {
  kind: "matrix";
  caption: string;
  rows: TableSide;
  columns: TableSide;
  values: Array<Array<number>>;
  texts: Array<Array<string>>;
  limit: number;
  marked: [number, number] | null;
  scale: "share" | "signed";
}

/** A listener's question that the speaker shows, for votes. */
export interface Wondered {
  id: number;
  text: string;
  votes: number;
}

/** A short text from the class: an answer in words, or a question of a listener's. */
export interface Written {
  id: number;
  text: string;
  isShown: boolean;
  votes: number;
}

/** A number that listeners marked as unclear: the address, the cell, and how many did. */
export interface Pointed {
  at: string;
  cell: string;
  count: number;
}

/** The arrays that a rule reads besides stages. */
export interface RuleNumbers {
  arrays: Record<string, RuleArray>;
}

/** A pass without its numbers: the same for all passes with the same settings and words. */
export interface PassShape {
  stages: Record<string, StageShape>;
  steps: Array<Step>;
  nearest: Record<string, string>;
  map: Map;
  words: Words;
  layers: Array<LayerOfModel>;
  fractions: boolean;
}

/** The numbers of parameters, which passes of other words share. */
export interface PassParameters {
  stages: Record<string, StageValues>;
}

/** A choice from a list. */
export interface Choice {
  kind: "choice";
  event: string;
  label: string;
  help?: string;
  quiet?: boolean;
  value: string | number | boolean;
  options: Array<Option>;
}

/** A line of text. */
export interface Text {
  kind: "text";
  event: string;
  label: string;
  help?: string;
  quiet?: boolean;
  value: string;
  limit: number;
  live: boolean;
  placeholder?: string;
  words?: Array<string>;
}

/** A button, which sends true. */
export interface Button {
  kind: "button";
  event: string;
  label: string;
  help?: string;
  quiet?: boolean;
  sign: string;
}

/** A choice from a row of pills. */
export interface Pills {
  kind: "pills";
  event: string;
  label: string;
  help?: string;
  quiet?: boolean;
  value: string | number | boolean | null;
  options: Array<Option>;
}

/** A switch. */
export interface Switch {
  kind: "switch";
  event: string;
  label: string;
  help?: string;
  quiet?: boolean;
  value: boolean;
}

/** A text between the controls. */
export interface Note {
  kind: "note";
  runs: Array<["" | "code" | "em" | "k" | "math" | "output" | "q" | "story" | "strong" | "v" | "verdict" | "word", string | Story]>;
}

/** The heading of a group of controls. */
export interface Heading {
  kind: "heading";
  text: string;
}

/** An array of the pass. */
export interface Stage {
  symbol: string;
  title: string;
  meaning: string;
  one: string;
  role: "" | "k" | "output" | "q" | "v";
  scale: "flag" | "share" | "signed";
  step: string;
  axes: Array<Axis>;
  hiddenBy: string;
  rule: Rule | null;
  stories: Array<["" | "given" | "hidden" | "set" | "unseeing", string]>;
  inMicrogpt: string;
  limit: number;
  overridden: Array<[number, number]>;
  overriddenBy: string;
  marks: string;
  recipe: string;
  values: Array<string | null>;
}

/** A step of the walkthrough. */
export interface Step {
  id: string;
  title: string;
  layer: number;
  heading: Array<["" | "code" | "em" | "k" | "math" | "output" | "q" | "story" | "strong" | "v" | "verdict" | "word", string | Story]>;
  why: Array<["" | "code" | "em" | "k" | "math" | "output" | "q" | "story" | "strong" | "v" | "verdict" | "word", string | Story]>;
  text: Array<["" | "code" | "em" | "k" | "math" | "output" | "q" | "story" | "strong" | "v" | "verdict" | "word", string | Story]>;
  notes: Array<Array<["" | "code" | "em" | "k" | "math" | "output" | "q" | "story" | "strong" | "v" | "verdict" | "word", string | Story]>>;
  stages: Array<string>;
  subject: string;
  pictures: Array<Picture>;
  formulas: Array<string>;
  numpy: Array<string>;
  arcs: boolean;
  bars: Array<[string, string]>;
  attention: string;
  heads: string;
  page: string;
  bands: Array<Band>;
  sources: Array<Source>;
}

/** A layer. */
export interface LayerOfModel {
  attention: string;
  mask: string;
  purpose: string;
  title: string;
  words: Words;
}

/** A second pass, A, compared with this one, B; its own document has no second pass. */
export interface OtherPass {
  between: Array<[string, string, string]>;
  parted: string;
  first: string | null;
  places: Record<string, Array<number | null>>;
  stages: Record<string, StageDistance>;
  at: Array<number>;
  document: Document;
}

/** The audit's result for a stage. */
export interface StageAudit {
  name: string;
  numbers: string;
  off: string;
}

/** A file to download. */
export interface File {
  name: string;
  text: string;
}

/** A number of a pass within a text, which links to its cell. */
export interface NumberLink {
  text: string;
  cell: string;
  of: "A" | "B";
}

/** One of the answers to choose from. */
export interface Candidate {
  label: string;
  feedback: Array<["" | "code" | "em" | "k" | "math" | "output" | "q" | "story" | "strong" | "v" | "verdict" | "word" | "number", string | NumberLink]>;
  word?: number;
  cell?: string;
}

/** A wrong number, and what it would be the answer to. */
export interface Near {
  value: number;
  tolerance: number;
  feedback: Array<["" | "code" | "em" | "k" | "math" | "output" | "q" | "story" | "strong" | "v" | "verdict" | "word" | "number", string | NumberLink]>;
}

/** A row of a table with gaps. */
export interface GapsRow {
  name: string;
  cells: Array<GapsCell>;
}

/** Numbers that another is computed from: a line per term of its sum, or per number. */
export interface WorkedTable {
  heads: Array<["" | "code" | "em" | "k" | "math" | "output" | "q" | "story" | "strong" | "v" | "verdict" | "word", string]>;
  lines: Array<Array<string>>;
}

/** The sweep with one divisor. */
export interface SweptDivisor {
  id: string;
  label: string;
  reach: number;
  lengths: Array<SweptLength>;
}

/** A moment in the list of lessons. */
export interface MomentEntry {
  id: string;
  title: string;
  recall: string;
  isOptional: boolean;
}

/** A term that one can explain after a lesson. */
export interface ExplainedTerm {
  name: Array<["" | "code" | "em" | "k" | "math" | "output" | "q" | "story" | "strong" | "v" | "verdict" | "word", string | Story]>;
  moment: string;
}

/** The rows or the columns of a table of numbers. */
export interface TableSide {
  title: string;
  labels: Array<string>;
  blocks: Array<Block>;
}

/** The smallest change of one stage that reverses the order of a row. */
export interface Flip {
  stage: string;
  text: string;
  cell: string | null;
  value: number | null;
}

/** The training of a model, and the checkpoint that is shown. */
export interface Training {
  curve: Array<[number, number, number]>;
  checkpoints: Array<number>;
  at: number;
  heldOut: number;
  met: number;
  patterns: Array<Pattern>;
  kinds: Kinds | null;
  yardsticks: Array<Yardstick>;
  over: string;
  heads: Array<string>;
  writes: Writes | null;
  learning: Learning | null;
  translations: Array<Translation>;
}

/** The parameters of sampling a token. */
export interface Drawing {
  temperature: number;
  top_k: number;
  top_p: number;
  seed: number;
}

/** What each writer to the residual stream at the last token adds to each logit. */
export interface Writers {
  writers: Array<ResidualPart>;
  values: Array<string | null>;
  byKey: ByKey | null;
}

/** Texts that the model writes, such as names. */
export interface Names {
  listed: Array<WrittenText>;
  text: string;
  about: string;
}

/** The cost of a token with and without a KV cache. */
export interface Kept {
  text: string;
  saved: string;
}

/** How far a stage's numbers are from those of the other pass. */
export interface StageDistance {
  text: string;
  other: number;
  matched: boolean;
  tolerance: number;
  largest: number;
  of: number;
}

/** Sentences with slots that the browser fills in for the selected cell. */
export interface Story {
  of: string;
  stories: Array<["" | "given" | "hidden" | "set" | "unseeing", string]>;
}

/** A step and its stages on the map. */
export interface MapColumn {
  step: string;
  title: string;
  layer: number;
  stages: Array<string>;
}

/** An option, and the pieces that are shown if it is chosen. */
export interface Alternative {
  value: string;
  runs: Array<["" | "code" | "em" | "k" | "math" | "output" | "q" | "story" | "strong" | "v" | "verdict" | "word" | "badge" | "right" | "wrong", string]>;
  pieces: Array<Heading | Paragraph | DoorButton | Frame | Columns | Alternatives | Table | NumberTable>;
}

/** An array that a rule reads besides stages. */
export interface RuleArray {
  values: Array<string | null>;
}

/** A stage without its numbers. */
export interface StageShape {
  symbol: string;
  title: string;
  meaning: string;
  one: string;
  role: "" | "k" | "output" | "q" | "v";
  scale: "flag" | "share" | "signed";
  step: string;
  axes: Array<Axis>;
  hiddenBy: string;
  rule: RuleShape | null;
  stories: Array<["" | "given" | "hidden" | "set" | "unseeing", string]>;
  inMicrogpt: string;
}

/** The values of a parameter, which passes of other words share. */
export interface StageValues {
  values: Array<string | null>;
}

/** An option of a list or of a row of pills. */
export interface Option {
  value: string | number | boolean;
  label: string;
  group?: string;
}

/** One axis of a stage, and its places. */
export interface Axis {
  name: string;
  title: string;
  labels: Array<string>;
  coordinates: Array<[string, number]>;
}

/** How a stage's cells are computed, and the arrays that this reads besides stages. */
export interface Rule {
  result: string;
  sizes: Record<string, number>;
  slots: Record<string, [string, string]>;
  case: [string, string] | null;
  until: [string, string] | null;
  variants: Array<RuleVariant>;
  arrays: Record<string, RuleArray>;
}

/** Matrices drawn as one equation: those in a row share their rows, those in a column their columns. */
export interface Picture {
  grid: Array<Array<Matrix | null>>;
  turns: boolean;
  aside: boolean;
}

/** Rows of the One word view with one sentence. */
export interface Band {
  sentence: Array<["" | "code" | "em" | "k" | "math" | "output" | "q" | "story" | "strong" | "v" | "verdict" | "word", string | Story]>;
  label: string;
  cells: Matrix;
  array: string;
  left: Matrix | null;
  right: Matrix | null;
  leftover: Matrix | null;
  factors: boolean;
}

/** Where the query, key, value or output of a band comes from: a word's row times a matrix of parameters. */
export interface Source {
  name: string;
  word: "key" | "query";
  heading: Array<["" | "code" | "em" | "k" | "math" | "output" | "q" | "story" | "strong" | "v" | "verdict" | "word", string | Story]>;
  formula: string;
  bands: Array<Band>;
}

/** A number of a table with gaps. */
export interface GapsCell {
  text: Array<["" | "code" | "em" | "k" | "math" | "output" | "q" | "story" | "strong" | "v" | "verdict" | "word" | "number", string | NumberLink]>;
  gap: Gap | null;
}

/** Random scores of one d_k: their spread and histogram, and what a softmax makes of them. */
export interface SweptLength {
  dK: number;
  spread: number;
  expected: number;
  counts: Array<number>;
  shares: Array<number>;
  largest: number;
  slope: number;
}

/** Rows or columns that belong together. */
export interface Block {
  name: string;
  start: number;
  stop: number;
}

/** A pattern of attention to held-out sentences, with its share of all attention. */
export interface Pattern {
  label: string;
  value: number;
}

/** Mean scores between kinds of words, in the same colours, up to `limit`, at every checkpoint. */
export interface Kinds {
  title: string;
  rows: Array<string>;
  columns: Array<string>;
  values: Array<Array<number>>;
  limit: number;
}

/** A loss that the model's is compared with. */
export interface Yardstick {
  label: string;
  loss: number;
  passed: number | null;
  isLine: boolean;
}

/** Texts that a checkpoint writes. */
export interface Writes {
  how: Drawing;
  texts: Array<WrittenText>;
}

/** Where one word looks, and the answer that is read at it, at every checkpoint. */
export interface Learning {
  asking: number;
  rows: Array<Array<Array<number>>>;
  answers: Array<string>;
  shares: Array<number>;
  right: string | null;
  rightShares: Array<number>;
}

/** What a checkpoint writes in another language, and what each of its words reads. */
export interface Translation {
  words: Array<string>;
  rows: Array<Array<number>>;
  right: Array<string>;
}

/** What writes to the residual stream: a head, an MLP, the embedding. */
export interface ResidualPart {
  label: string;
  cell: string;
  isHead: boolean;
}

/** The key from which each head adds most to each logit, and how much. */
export interface ByKey {
  places: Array<Array<number>>;
  values: Array<string | null>;
}

/** A text that a model wrote. */
export interface WrittenText {
  text: string;
  is: string;
}

/** A matrix of a picture: a stage, cut along two of its axes. */
export interface Matrix {
  stage: string;
  rows: number | null;
  columns: number | null;
  fixed: Record<string, number>;
  sign: string;
  after: string;
  result: boolean;
  sums: boolean;
}

/** How the cells of a stage are computed from other cells, for all of them at once. */
export interface RuleShape {
  result: string;
  sizes: Record<string, number>;
  slots: Record<string, [string, string]>;
  case: [string, string] | null;
  until: [string, string] | null;
  variants: Array<RuleVariant>;
}

/** How the cells of one case are computed. */
export interface RuleVariant {
  lines: Array<RuleLine>;
  conclusion: string;
  formula: string;
  term: string;
}

/** A cell to fill in. */
export interface Gap {
  value: number;
  tolerance: number;
  nears: Array<Near>;
}

/** One line of how a cell was computed. */
export interface RuleLine {
  cells: Array<string>;
  text: string;
  value: string;
  isExponential: boolean;
}
