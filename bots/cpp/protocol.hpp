// A client for the protocol in one file: write a `choose` and call `run`, as bot.cpp does.
//
// JSON is read where it lies in the line: a value is a view of the text. What a Turn has no name
// for is read the same way: member(member(turn.line, "view"), "hand_sizes").
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

using Text = std::string_view;

// A rank of 23456789TJQKA and a suit of SCDH, such as "3S"; a joker is "JK". A two in the pile of
// Speahx also tells the suit that was called with it: "2S>H".
using Card = std::string;

// Exactly one of play, pass and (in Speahx) chance.
struct Choice {
    std::vector<Card> play;
    std::string suit;  // called with a two in Speahx: S, C, D or H
    bool pass = false;
    bool chance = false;
};

// A request for a move.
struct Turn {
    long long id = 0;
    std::vector<Card> hand;
    std::vector<Card> table;    // what is to be beaten; in Speahx the pile, from its bottom
    std::vector<Choice> legal;  // the legal answers, as `run` has asked for them
    long time = 0, bank = 0;    // milliseconds for this move, and of the deal's extra time
    Text hello, deal, line;     // the messages themselves, empty where there was none
};

// Cuts the first value off `text` and returns it.
inline Text take(Text &text)
{
    std::size_t at = 0;
    int depth = 0;
    do {
        const char here = text[at];
        if (here == '"') {
            for (at++; at < text.size() && text[at] != '"'; at++)
                if (text[at] == '\\') at++;
        } else if (here == '{' || here == '[') {
            depth++;
        } else if (here == '}' || here == ']') {
            depth--;
        } else if (depth == 0) {  // a number, true, false or null
            at = std::min(text.find_first_of(",]} \t\r\n"), text.size()) - 1;
        }
        at++;
    } while (depth > 0 && at < text.size());
    const Text value = text.substr(0, at);
    text.remove_prefix(value.size());
    return value;
}

// The values of an array, or the keys and values of an object in turn; none of anything else.
inline std::vector<Text> values(Text text)
{
    std::vector<Text> found;
    text.remove_prefix(std::min(text.find_first_not_of(" \t\r\n"), text.size()));
    if (text.empty() || (text[0] != '[' && text[0] != '{')) return found;
    for (text.remove_prefix(1);; found.push_back(take(text))) {
        text.remove_prefix(std::min(text.find_first_not_of(" \t\r\n,:"), text.size()));
        if (text.empty() || text[0] == ']' || text[0] == '}') return found;
    }
}

// The value of a field; empty where there is no such field or `object` is no object.
inline Text member(Text object, const std::string &key)
{
    const std::vector<Text> fields = values(object);
    for (std::size_t i = 0; i + 1 < fields.size(); i += 2)
        if (fields[i] == '"' + key + '"') return fields[i + 1];
    return {};
}

inline std::string unquoted(Text text)
{
    return std::string(text.size() > 1 && text[0] == '"' ? text.substr(1, text.size() - 2) : "");
}

inline long long number(Text text) { return std::atoll(std::string(text).c_str()); }

inline std::vector<Card> cards(Text list)
{
    std::vector<Card> found;
    for (const Text card : values(list)) found.push_back(unquoted(card));
    return found;
}

inline Turn read_turn(Text line)
{
    const Text view = member(line, "view"), time = member(line, "time");
    const Text pile = member(view, "pile");
    Turn turn;
    turn.id = number(member(line, "id"));
    turn.hand = cards(member(view, "hand"));
    turn.table = cards(pile.empty() ? member(member(view, "table"), "cards") : pile);
    for (const Text it : values(member(line, "legal")))
        turn.legal.push_back({cards(member(it, "play")), unquoted(member(it, "suit")),
                              member(it, "pass") == "true", member(it, "chance") == "true"});
    turn.time = number(member(time, "move"));
    turn.bank = number(member(time, "bank"));
    turn.line = line;
    return turn;
}

inline void answer(long long id, const Choice &choice)
{
    std::cout << "{\"id\": " << id;
    for (std::size_t i = 0; i < choice.play.size(); i++)
        std::cout << (i ? ", \"" : ", \"play\": [\"") << choice.play[i] << '"';
    if (!choice.play.empty()) std::cout << ']';
    if (!choice.suit.empty()) std::cout << ", \"suit\": \"" << choice.suit << '"';
    if (choice.pass) std::cout << ", \"pass\": true";
    if (choice.chance) std::cout << ", \"chance\": true";
    std::cout << '}' << std::endl;  // endl flushes: nobody sees the answer before
}

inline std::uint32_t chance = 0;

// By chance a number from 0 to below `count`, the same again in the same deal.
inline std::size_t below(std::size_t count)
{
    chance = chance * 1664525u + 1013904223u;  // modulo 2^32
    return (chance >> 16) % count;
}

// Talks with the runner until it ends the input. `legal`: "none", "canonical" or "all".
inline void run(Choice (*choose)(const Turn &), const std::string &name, const std::string &legal)
{
    std::ios::sync_with_stdio(false);
    std::string hello, deal;
    for (std::string line; std::getline(std::cin, line);) {
        const Text type = member(line, "type");
        if (type == "\"hello\"") {
            hello = line;
            std::cout << R"({"type": "ready", "name": ")" << name << R"(", "legal": ")" << legal
                      << "\"}" << std::endl;
        } else if (type == "\"deal\"") {
            deal = line;
            chance = static_cast<std::uint32_t>(number(member(line, "seed")));
        } else if (type == "\"move\"") {
            Turn turn = read_turn(line);
            turn.hello = hello;
            turn.deal = deal;
            answer(turn.id, choose(turn));
        }
    }
}
