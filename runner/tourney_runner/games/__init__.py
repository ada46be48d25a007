"""The card games: the interface of a game, the registry, and one package for each bundled game.

The rest of the program uses games only through `games.base`. A game takes options, a seed and
answers of bots, and returns observations, events, places and points.
"""
