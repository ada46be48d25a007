//! The simplest complete bot in Rust: it asks for the legal answers and picks one by chance.

mod protocol;

use protocol::{run, Choice, Turn};

fn choose(turn: &Turn) -> Choice {
    turn.legal[turn.below(turn.legal.len())].clone()
}

fn main() -> std::io::Result<()> {
    run(choose, "rust", "canonical")
}
