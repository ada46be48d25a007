// Added by `tourney serve`: a page reloads when the site is written again.
"use strict";

(() => {
  const EVERY_MS = 2000;
  const place = `scroll ${location.pathname}`;
  const known = document.currentScript.dataset.stamp;

  addEventListener("load", () => scrollTo(0, Number(sessionStorage.getItem(place) || 0)));

  async function look() {
    try {
      const stamp = await (await fetch("/-/stamp", { cache: "no-store" })).text();
      if (stamp && stamp !== known && !busy()) {
        sessionStorage.setItem(place, String(scrollY));
        location.reload();
      }
    } catch {
      // The server has gone; it may come back.
    }
  }

  // A deal that is being watched does not change, and a search must not be thrown away.
  function busy() {
    return document.getElementById("film") !== null || Boolean(document.getElementById("search")?.value);
  }

  setInterval(look, EVERY_MS);
  look();
})();
