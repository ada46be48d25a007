//! A client for the protocol in one file: write a `choose` and call `run`, as bot.rs does.
//!
//! JSON is read where it lies in the line: a value is a slice of the text. What a `Turn` has no
//! name for is read the same way: `member(member(turn.line, "view"), "hand_sizes")`.
#![allow(dead_code)] // few bots need everything

use std::cell::Cell;
use std::io::{self, BufRead, Write};

/// A rank of 23456789TJQKA and a suit of SCDH, such as "3S"; a joker is "JK". A two in the pile of
/// Speahx also tells the suit that was called with it: "2S>H".
pub type Card = String;

/// Exactly one of play, pass and (in Speahx) chance.
#[derive(Clone, Debug, Default)]
pub struct Choice {
    pub play: Vec<Card>,
    /// Called with a two in Speahx: S, C, D or H.
    pub suit: Option<String>,
    pub pass: bool,
    pub chance: bool,
}

/// A request for a move.
pub struct Turn<'a> {
    pub id: i64,
    pub hand: Vec<Card>,
    /// What is to be beaten; in Speahx the pile, from its bottom.
    pub table: Vec<Card>,
    /// The legal answers, as `run` has asked for them.
    pub legal: Vec<Choice>,
    /// Milliseconds for this move.
    pub time: u64,
    /// Milliseconds that are left of the deal's extra time.
    pub bank: u64,
    /// The messages themselves, empty where there was none.
    pub hello: &'a str,
    pub deal: &'a str,
    pub line: &'a str,
    chance: &'a Cell<u32>,
}

impl Turn<'_> {
    /// By chance a number from 0 to below `count`, the same again in the same deal.
    pub fn below(&self, count: usize) -> usize {
        let next = self
            .chance
            .get()
            .wrapping_mul(1_664_525)
            .wrapping_add(1_013_904_223);
        self.chance.set(next);
        (next >> 16) as usize % count
    }
}

/// Cuts the first value off a text: (the value, what follows it).
fn take(text: &str) -> (&str, &str) {
    let (mut depth, mut quoted, mut escaped) = (0, false, false);
    for (at, here) in text.bytes().enumerate() {
        let mut ends = false;
        if escaped {
            escaped = false;
        } else if quoted {
            escaped = here == b'\\';
            quoted = here != b'"';
            ends = !quoted && depth == 0;
        } else {
            match here {
                b'"' => quoted = true,
                b'{' | b'[' => depth += 1,
                b',' | b' ' | b'\t' | b'\r' | b'\n' | b'}' | b']' if depth == 0 => {
                    return text.split_at(at)
                }
                b'}' | b']' => {
                    depth -= 1;
                    ends = depth == 0;
                }
                _ => {}
            }
        }
        if ends {
            return text.split_at(at + 1);
        }
    }
    (text, "")
}

/// The values of an array, or the keys and values of an object in turn; none of anything else.
pub fn values(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let Some(mut rest) = text.trim_start().strip_prefix(['[', '{']) else {
        return found;
    };
    loop {
        rest = rest.trim_start_matches([' ', '\t', '\r', '\n', ',', ':']);
        if rest.is_empty() || rest.starts_with([']', '}']) {
            return found;
        }
        let (value, after) = take(rest);
        found.push(value);
        rest = after;
    }
}

/// The value of a field; empty where there is no such field or `object` is no object.
pub fn member<'a>(object: &'a str, key: &str) -> &'a str {
    let quoted = format!("\"{key}\"");
    let fields = values(object);
    let found = fields.chunks_exact(2).find(|field| field[0] == quoted);
    found.map_or("", |field| field[1])
}

/// The cards of an array.
pub fn cards(list: &str) -> Vec<Card> {
    values(list)
        .iter()
        .map(|card| card.trim_matches('"').to_string())
        .collect()
}

fn read_choice(text: &str) -> Choice {
    Choice {
        play: cards(member(text, "play")),
        suit: Some(member(text, "suit").trim_matches('"').to_string()).filter(|it| !it.is_empty()),
        pass: member(text, "pass") == "true",
        chance: member(text, "chance") == "true",
    }
}

fn line_of(id: i64, choice: &Choice) -> String {
    let mut line = format!("{{\"id\": {id}");
    if !choice.play.is_empty() {
        line += &format!(", \"play\": {:?}", choice.play);
    }
    if let Some(suit) = &choice.suit {
        line += &format!(", \"suit\": {suit:?}");
    }
    if choice.pass {
        line += ", \"pass\": true";
    }
    if choice.chance {
        line += ", \"chance\": true";
    }
    line + "}"
}

/// Talks with the runner until it ends the input. `legal`: "none", "canonical" or "all".
pub fn run(choose: impl Fn(&Turn) -> Choice, name: &str, legal: &str) -> io::Result<()> {
    let mut input = io::stdin().lock();
    let mut output = io::stdout().lock(); // it writes each line when it ends
    let (mut hello, mut deal, mut line) = (String::new(), String::new(), String::new());
    let chance = Cell::new(0);
    while input.read_line(&mut line)? > 0 {
        match member(&line, "type") {
            "\"hello\"" => {
                writeln!(
                    output,
                    r#"{{"type": "ready", "name": "{name}", "legal": "{legal}"}}"#
                )?;
                hello.clone_from(&line);
            }
            "\"deal\"" => {
                // The seed is below 2^53; its low half is enough.
                chance.set(member(&line, "seed").parse::<u64>().unwrap_or(0) as u32);
                deal.clone_from(&line);
            }
            "\"move\"" => {
                let (view, time) = (member(&line, "view"), member(&line, "time"));
                let pile = member(view, "pile");
                let beaten = member(member(view, "table"), "cards");
                let turn = Turn {
                    id: member(&line, "id").parse().unwrap_or(0),
                    hand: cards(member(view, "hand")),
                    table: cards(if pile.is_empty() { beaten } else { pile }),
                    legal: values(member(&line, "legal"))
                        .into_iter()
                        .map(read_choice)
                        .collect(),
                    time: member(time, "move").parse().unwrap_or(0),
                    bank: member(time, "bank").parse().unwrap_or(0),
                    hello: &hello,
                    deal: &deal,
                    line: &line,
                    chance: &chance,
                };
                writeln!(output, "{}", line_of(turn.id, &choose(&turn)))?;
            }
            _ => {}
        }
        line.clear();
    }
    Ok(())
}
