// The simplest complete bot in TypeScript: it asks for the legal answers and picks one by chance.
// protocol.ts has the types of the messages.

// The little that is needed of Node, so that nothing has to be installed besides the compiler.
declare const process: {
  stdin: { setEncoding(encoding: "utf8"): void; on(event: "data", take: (chunk: string) => void): void };
  stdout: { write(text: string): void };
};

let chance = 0;

function send(message: Ready | Answer): void {
  process.stdout.write(JSON.stringify(message) + "\n");
}

function choose(legal: Choice[]): Choice {
  chance = (chance * 1664525 + 1013904223) % 2 ** 32; // below 2 ** 53, so exact
  return legal[Math.floor(chance / 65536) % legal.length];
}

function answer(message: Message): void {
  switch (message.type) {
    case "hello":
      send({ type: "ready", name: "typescript", legal: "canonical" });
      break;
    case "deal":
      chance = message.seed % 2 ** 32;
      break;
    case "move":
      if (message.legal?.length) send({ id: message.id, ...choose(message.legal) });
      break;
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
  rest = lines.pop() ?? "";
  for (const line of lines) {
    if (line.trim()) answer(JSON.parse(line));
  }
});
