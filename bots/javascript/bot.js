// The simplest complete bot in JavaScript: it asks for the legal answers and picks one by chance.
"use strict";

let chance = 0;

function send(message) {
  process.stdout.write(JSON.stringify(message) + "\n");
}

function answer(message) {
  if (message.type === "hello") {
    send({ type: "ready", name: "javascript", legal: "canonical" });
  } else if (message.type === "deal") {
    chance = message.seed % 2 ** 32;
  } else if (message.type === "move" && message.legal?.length) {
    chance = (chance * 1664525 + 1013904223) % 2 ** 32; // below 2 ** 53, so exact
    const pick = Math.floor(chance / 65536) % message.legal.length;
    send({ id: message.id, ...message.legal[pick] });
  }
}

// Not the readline module: it would also break lines at U+2028, which JSON allows in a string.
let rest = "";
process.stdin.setEncoding("utf8");
process.stdin.on("data", (chunk) => {
  if (!chunk.includes("\n")) {
    rest += chunk;
    return;
  }
  const lines = (rest + chunk).split("\n");
  rest = lines.pop();
  for (const line of lines) {
    if (line.trim()) answer(JSON.parse(line));
  }
});
