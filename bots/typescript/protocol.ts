// The messages of the protocol, as far as both games have them in common. Fields and types of
// messages that are not named here may come as well; `tourney schema protocol` lists all.

/** A rank of 23456789TJQKA and a suit of SCDH, such as "3S"; a joker is "JK". */
type Card = string;

/** What the bot may use; times in milliseconds, sizes in bytes. */
interface Limits {
  start: number;
  move: number;
  bank: number;
  output: number;
  memory?: number;
}

/** Once, when the process starts; wants a `Ready`. */
interface Hello {
  type: "hello";
  protocol: number;
  game: "tienlen" | "speahx";
  rules: Record<string, unknown>;
  limits: Limits;
}

interface Ready {
  type: "ready";
  name: string;
  version?: string;
  /** Whether each `Move` should list the legal answers. */
  legal: "none" | "canonical" | "all";
}

/** New cards; wants no answer. */
interface Deal {
  type: "deal";
  seat: number;
  players: number;
  hand: Card[];
  leader: number | null;
  /** For the bot's own randomness; it says nothing of the cards. */
  seed: number;
}

/** What may be done: exactly one of `play`, `pass` and (in Speahx) `chance`. */
interface Choice {
  play?: Card[];
  /** In Speahx, when the last card laid is a two. */
  suit?: "S" | "C" | "D" | "H";
  pass?: true;
  chance?: true;
}

/** The bot's turn; wants an `Answer` with the same id. */
interface Move {
  type: "move";
  id: number;
  /** The position as this bot may know it; its fields depend on the game. */
  view: { seat: number; hand: Card[]; hand_sizes: number[]; [field: string]: unknown };
  events: { seat: number; [field: string]: unknown }[];
  time: { move: number; bank: number };
  legal?: Choice[];
}

interface Answer extends Choice {
  id: number;
  /** A note that is kept with the deal. */
  debug?: string;
}

/** The deal is over; wants no answer. Both by seat. */
interface Result {
  type: "result";
  places: number[];
  points: number[];
}

type Message = Hello | Deal | Move | Result;
