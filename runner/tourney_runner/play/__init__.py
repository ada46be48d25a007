"""Play deals and matches with bots.

`Tables` takes settings and bots, plays matches and yields a record for each deal. `Player` runs a
bot's process, `DealInPlay` plays one deal, and `deal_replay` replays a stored deal.
"""
