"""For the people who write bots: kits, checks, a seat at the table, entering a league."""
