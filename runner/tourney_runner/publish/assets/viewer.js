// Shows a deal. All pictures come ready from the program; this code only draws them and contains no rules.
"use strict";

(() => {
  const film = JSON.parse(document.getElementById("film").textContent);
  const SUITS = { S: ["♠\uFE0E", "spades"], H: ["♥\uFE0E", "hearts"], D: ["♦\uFE0E", "diamonds"], C: ["♣\uFE0E", "clubs"] };
  const RANKS = { T: ["10", "10"], J: ["J", "jack"], Q: ["Q", "queen"], K: ["K", "king"], A: ["A", "ace"] };
  const STATES = { passed: ["passed", "soft"], out: ["out", "good"], forfeited: ["forfeited", "bad"] };
  const CARD = /\b([2-9TJQKA][SHDC]|JK)\b/;
  const STACK_SHOWN = 8;
  const NAME_SHOWN = 40;
  const NOTE_SHOWN = 200;
  const STEP_MS = 1200;
  const last = film.frames.length - 1;
  const id = (name) => document.getElementById(name);
  let at = 0;
  let view = null; // a seat, or null for all hands
  let timer = null;

  function element(name, className, ...children) {
    const node = document.createElement(name);
    if (className) node.className = className;
    node.append(...children);
    return node;
  }

  // Names are strangers' text: isolated, so that their direction cannot reorder what surrounds them.
  function named(text) {
    return text.split(/\b(seat \d+)\b/).flatMap((part) => {
      const seat = /^seat (\d+)$/.exec(part);
      const player = seat && film.players[Number(seat[1])];
      return player ? [element("bdi", "", player.name)] : withCards(part);
    });
  }

  // A line of the game with its cards as they are drawn.
  function withCards(text) {
    return text.split(CARD).map((part, index) => {
      if (index % 2 === 0) return part;
      const node = element("span", `word ${part.slice(-1)}`, signs(part).join(""));
      node.setAttribute("role", "img");
      node.setAttribute("aria-label", words(part));
      return node;
    });
  }

  // Rank and suit as a card shows them.
  function signs(card) {
    if (card === "JK") return ["★", "JK"];
    const rank = card.slice(0, -1);
    return [(RANKS[rank] || [rank])[0], SUITS[card.slice(-1)][0]];
  }

  function words(card) {
    if (card === "JK") return "joker";
    const rank = card.slice(0, -1);
    const suit = SUITS[card.slice(-1)];
    return suit ? `${(RANKS[rank] || [rank, rank])[1]} of ${suit[1]}` : card;
  }

  function cardNode(card, fresh) {
    const node = element("li", `card${fresh ? " fresh" : ""}`);
    node.setAttribute("aria-label", words(card));
    if (card === "JK" || SUITS[card.slice(-1)]) {
      const [rank, suit] = signs(card);
      node.classList.add(card === "JK" ? "joker" : card.slice(-1));
      node.dataset.pip = card === "JK" ? rank : suit;
      node.append(element("span", rank.length > 1 ? "rank two" : "rank", rank), element("span", "", suit));
    } else {
      node.classList.add("odd");
      node.append(card);
    }
    return node;
  }

  function cardList(cards, { layout, hidden, fresh, label, small }) {
    const list = element("ul", `cards ${layout}${small ? " small" : ""}`);
    list.setAttribute("aria-label", hidden ? `${label}: ${cards.length} cards, face down` : label);
    list.style.setProperty("--cards", String(cards.length));
    const shown = layout === "stack" ? cards.slice(-(hidden ? 3 : STACK_SHOWN)) : cards;
    if (shown.length < cards.length) {
      list.append(element("li", "more", hidden ? "" : `${cards.length - shown.length} below`));
    }
    const nodes = hidden ? shown.map(backNode) : faceNodes(shown, fresh);
    list.append(...nodes);
    return list;
  }

  // Of twins the last one is new: cards are laid on top.
  function faceNodes(cards, fresh) {
    const unseen = new Map(fresh);
    const nodes = [...cards].reverse().map((card) => {
      const left = unseen.get(card) || 0;
      if (left) unseen.set(card, left - 1);
      return cardNode(card, left > 0);
    });
    return nodes.reverse();
  }

  function backNode() {
    const back = element("li", "card back");
    back.setAttribute("aria-label", "face down");
    return back;
  }

  const split = (text) => (text ? text.split(" ") : []);

  function counted(cards) {
    const counts = new Map();
    for (const card of cards) counts.set(card, (counts.get(card) || 0) + 1);
    return counts;
  }

  // What lies in a zone now and did not lie in it one picture before.
  function arrivals(zone, previous) {
    const counts = counted(split(zone[1]));
    const before = previous.find((other) => other[0] === zone[0] && other[2] === zone[2]);
    for (const card of before ? split(before[1]) : []) {
      if (counts.get(card)) counts.set(card, counts.get(card) - 1);
    }
    return counts;
  }

  function zoneNode(zone, previous) {
    const [name, text, seat, shownTo, layout, note] = zone;
    const cards = split(text);
    const hidden = shownTo === "nobody" || (shownTo === "owner" && view !== null && view !== seat);
    const node = element("div", "zone");
    const owner = seat === null ? "" : ` of ${film.players[seat].name}`;
    const title = element("p", "zone-title", name);
    if (note) title.append(" · ", ...named(note));
    if (cards.length && (layout === "stack" || hidden)) title.append(` · ${cards.length}`);
    if (seat === null || name !== "hand") node.append(title);
    if (cards.length) {
      const fresh = previous && at > 0 ? arrivals(zone, previous) : new Map();
      const small = seat === null && (name === "played" || shownTo === "nobody");
      node.append(cardList(cards, { layout, hidden, fresh, label: name + owner, small }));
    }
    return node;
  }

  const zonesOf = (frame) => frame[3].map((index) => film.zones[index]);

  function drawMiddle(frame, previous) {
    const nodes = zonesOf(frame).filter((zone) => zone[2] === null).map((zone) => zoneNode(zone, previous));
    const gone = split(frame[5]);
    if (gone.length) {
      const node = element("div", "zone gone", element("p", "zone-title", `left the game · ${gone.length}`));
      node.append(cardList(gone, { layout: "fan", fresh: new Map(), label: "left the game", small: true }));
      nodes.push(node);
    }
    id("middle").replaceChildren(...nodes);
  }

  // What each player did last, since the cards were dealt.
  function lastDeeds() {
    const deeds = new Map();
    for (let index = at; index > 0 && deeds.size < film.players.length; index -= 1) {
      const [log, actor] = film.frames[index];
      if (actor !== null && !deeds.has(actor)) deeds.set(actor, log);
    }
    return deeds;
  }

  function seatNode(seat, frame, previous, deed) {
    const [cards, state, place, note] = film.seats[frame[4][seat]];
    const player = film.players[seat];
    const name = element("bdi", "", player.name);
    const title = element("h2", "", name);
    if (seat === frame[2]) title.append(tag("to move", "warn"));
    if (place !== null) title.append(tag(`place ${place}`, place === 1 ? "good" : "soft"));
    else if (STATES[state]) title.append(tag(...STATES[state]));
    if (state === "forfeited" && place !== null) title.append(tag("forfeited", "bad"));
    title.append(element("span", "count", `${cards} card${cards === 1 ? "" : "s"}${note ? `, ${note}` : ""}`));
    const node = element("section", "seat", title);
    node.setAttribute("aria-label", `seat ${seat}: ${player.name}`);
    node.classList.toggle("turn", seat === frame[2]);
    node.classList.toggle("acted", at > 0 && seat === frame[1]);
    node.classList.toggle("resting", state !== "playing");
    node.append(element("p", "last", ...(deed ? shortened(deed, seat) : [])));
    const zones = zonesOf(frame).filter((zone) => zone[2] === seat && zone[1]);
    node.append(...zones.map((zone) => zoneNode(zone, zone[0] === "hand" ? null : previous)));
    node.append(...remarks(seat).map(noteNode));
    return node;
  }

  // A bot's own notes belong to their move; what it failed by last is worth knowing also later on.
  function remarks(seat) {
    const before = film.notes.filter((note) => note.seat === seat && note.frame <= at);
    const failures = before.filter((note) => note.kind !== "debug");
    return [...failures.slice(-1), ...before.filter((note) => note.kind === "debug" && note.frame === at)];
  }

  function noteNode(note) {
    const kind = note.kind === "debug" ? "soft" : "bad";
    const node = element("p", "debug", tag(note.kind, kind), " ", element("bdi", "", note.text));
    if (note.text.length > NOTE_SHOWN) node.tabIndex = 0; // it scrolls
    return node;
  }

  // The player's own name stands above already.
  function shortened(log, seat) {
    const own = `seat ${seat} `;
    return named(log.startsWith(own) ? log.slice(own.length) : log);
  }

  function tag(text, kind) {
    return element("span", `tag ${kind}`, text);
  }

  function drawSeats(frame, previous) {
    const deeds = lastDeeds();
    id("seats").replaceChildren(
      ...film.players.map((_, seat) => seatNode(seat, frame, previous, deeds.get(seat))),
    );
  }

  function draw() {
    const frame = film.frames[at];
    const previous = at > 0 ? zonesOf(film.frames[at - 1]) : null;
    drawMiddle(frame, previous);
    drawSeats(frame, previous);
    id("now").replaceChildren(...named(frame[0]));
    if (frame[6]) id("now").append(" ", tag("played for the bot, which had failed", "bad"));
    id("slider").value = id("move").value = String(at);
    id("slider").setAttribute("aria-valuetext", `move ${at} of ${last}`);
    mark();
  }

  function mark() {
    const buttons = id("moves").querySelectorAll("button");
    const before = id("moves").querySelector("[aria-current]");
    if (before) before.removeAttribute("aria-current");
    const now = buttons[at];
    now.setAttribute("aria-current", "step");
    const box = id("moves");
    box.scrollTop = now.offsetTop - box.clientHeight / 2;
  }

  function go(to, { keep } = {}) {
    at = Math.max(0, Math.min(last, Math.trunc(to) || 0));
    draw();
    if (!keep) remember();
    if (at === last) stop();
  }

  function remember() {
    const seat = view === null ? "" : `&view=${view}`;
    history.replaceState(null, "", `#move=${at}${seat}`);
  }

  function recall() {
    const asked = new URLSearchParams(location.hash.slice(1));
    const seat = asked.get("view");
    view = seat !== null && film.players[Number(seat)] ? Number(seat) : null;
    id("view").value = view === null ? "all" : String(view);
    go(Number(asked.get("move") || 0), { keep: true });
  }

  function stop() {
    clearTimeout(timer);
    timer = null;
    showPlaying();
  }

  function play() {
    if (timer !== null) return stop();
    if (at === last) go(0);
    // While the deal plays by itself, a screen reader would only stammer.
    id("now").setAttribute("aria-live", "off");
    const next = () => {
      timer = setTimeout(() => {
        go(at + 1);
        if (at < last) next();
      }, STEP_MS / Number(id("speed").value));
    };
    next();
    return showPlaying();
  }

  function showPlaying() {
    const playing = timer !== null;
    id("play").setAttribute("aria-label", playing ? "Pause" : "Play");
    id("play").querySelector("path").setAttribute("d", playing ? "M3 2h4v12H3zM9 2h4v12H9z" : "M4 2l10 6-10 6z");
    if (!playing) id("now").setAttribute("aria-live", "polite");
  }

  function step(to) {
    stop();
    go(to);
  }

  function listMoves() {
    const flagged = new Set(film.notes.filter((note) => note.kind !== "debug").map((note) => note.frame));
    id("moves").querySelector("ol").append(
      ...film.frames.map(([log], index) => {
        const text = element("span", flagged.has(index) ? "flag" : "", ...named(log));
        const button = element("button", "", element("span", "", String(index)), text);
        button.type = "button";
        button.addEventListener("click", () => step(index));
        return element("li", "", button);
      }),
    );
  }

  function listViews() {
    film.players.forEach((player, seat) => {
      const name = player.name.length > NAME_SHOWN ? `${player.name.slice(0, NAME_SHOWN)}…` : player.name;
      const option = element("option", "", `seat ${seat}: ${name}`);
      option.value = String(seat);
      id("view").append(option);
    });
  }

  const KEYS = {
    ArrowLeft: () => step(at - 1),
    ArrowRight: () => step(at + 1),
    Home: () => step(0),
    End: () => step(last),
    " ": play,
  };

  function onKey(event) {
    const target = event.target;
    const typing = target.matches("select, input[type=number]");
    const pressing = event.key === " " && target.matches("button, a, summary");
    if (typing || pressing || event.altKey || event.ctrlKey || event.metaKey || !KEYS[event.key]) return;
    event.preventDefault();
    KEYS[event.key]();
  }

  async function copyLink() {
    remember();
    try {
      await navigator.clipboard.writeText(location.href);
      id("copied").textContent = "copied";
    } catch {
      id("copied").textContent = "the link is in the address bar";
    }
  }

  id("slider").max = id("move").max = String(last);
  id("felt").classList.add(film.players.length <= 4 ? "few" : film.players.length <= 8 ? "some" : "many");
  id("of").textContent = `of ${last}`;
  listMoves();
  listViews();
  id("first").addEventListener("click", () => step(0));
  id("back").addEventListener("click", () => step(at - 1));
  id("play").addEventListener("click", play);
  id("next").addEventListener("click", () => step(at + 1));
  id("last").addEventListener("click", () => step(last));
  id("slider").addEventListener("input", (event) => step(Number(event.target.value)));
  id("move").addEventListener("change", (event) => step(Number(event.target.value)));
  id("link").addEventListener("click", copyLink);
  id("view").addEventListener("change", (event) => {
    view = event.target.value === "all" ? null : Number(event.target.value);
    draw();
    remember();
  });
  document.addEventListener("keydown", onKey);
  addEventListener("hashchange", recall);
  recall();
})();
