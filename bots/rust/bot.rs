//! The simplest complete bot in Rust: it asks for the legal answers and picks one by chance.
//!
//! JSON is read where it lies in the line: a value is a slice of the text, `take` cuts the next
//! value off a text, `member` finds a field of an object. Unknown messages and fields are ignored.

use std::io::{self, BufRead, Write};

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
                b'}' | b']' if depth == 0 => return text.split_at(at),
                b'}' | b']' => {
                    depth -= 1;
                    ends = depth == 0;
                }
                b',' | b' ' | b'\t' | b'\r' | b'\n' if depth == 0 => return text.split_at(at),
                _ => {}
            }
        }
        if ends {
            return text.split_at(at + 1);
        }
    }
    (text, "")
}

/// The values of an array, or the keys and values of an object in turn.
fn values(list: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut rest = list.get(1..).unwrap_or("");
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
fn member<'a>(object: &'a str, key: &str) -> &'a str {
    if !object.starts_with('{') {
        return "";
    }
    let quoted = format!("\"{key}\"");
    let fields = values(object);
    let found = fields.chunks_exact(2).find(|field| field[0] == quoted);
    found.map_or("", |field| field[1])
}

fn main() -> io::Result<()> {
    let mut input = io::stdin().lock();
    let mut output = io::stdout().lock();
    let mut line = String::new();
    let mut chance: u32 = 0;
    while input.read_line(&mut line)? > 0 {
        let message = line.trim();
        match member(message, "type") {
            "\"hello\"" => {
                let ready = r#"{"type": "ready", "name": "rust", "legal": "canonical"}"#;
                writeln!(output, "{ready}")?;
            }
            // The seed is below 2^53; its low half is enough.
            "\"deal\"" => chance = member(message, "seed").parse::<u64>().unwrap_or(0) as u32,
            "\"move\"" => {
                let legal = values(member(message, "legal"));
                if !legal.is_empty() {
                    chance = chance.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                    let choice = legal[(chance >> 16) as usize % legal.len()];
                    // The answer is the legal one with the id of the request put in front.
                    writeln!(output, "{{\"id\": {}, {}", member(message, "id"), &choice[1..])?;
                }
            }
            _ => {}
        }
        output.flush()?;
        line.clear();
    }
    Ok(())
}
