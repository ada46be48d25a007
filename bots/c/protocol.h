/* A client for the protocol in one file: write a `choose` and call `run`, as bot.c does.
 *
 * JSON is read where it lies in the line: a value is a pointer to its first character, `skip`
 * steps over it, `inside` enters an array or object, `member` finds a field. What a Turn has no
 * name for is read the same way: member(member(turn->line, "view"), "hand_sizes").
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A rank of 23456789TJQKA and a suit of SCDH, such as "3S"; a joker is "JK". A two in the pile of
 * Speahx also tells the suit that was called with it: "2S>H". */
typedef struct { char name[8]; } Card;

typedef struct { Card *at; size_t count; } Cards;

/* Exactly one of play, pass and (in Speahx) chance. */
typedef struct {
    Cards play;
    char suit; /* called with a two in Speahx: S, C, D or H; else 0 */
    bool pass, chance;
} Choice;

/* A request for a move; all of it is gone with the next one. */
typedef struct {
    long long id;
    Cards hand;
    Cards table;       /* what is to be beaten; in Speahx the pile from its bottom; may be empty */
    Choice *legal;     /* the legal answers, as `run` has asked for them */
    size_t legals;
    long time, bank;   /* milliseconds for this move, and what is left of the deal's extra time */
    const char *hello, *deal, *line; /* the messages themselves, "" where there was none */
} Turn;

static inline const char *space(const char *at) { return at + strspn(at, " \t\r\n"); }

/* The end of the value that starts at `at`. */
static inline const char *skip(const char *at)
{
    int depth = 0;
    do {
        if (*at == '"') {
            for (at++; *at && *at != '"'; at++)
                if (*at == '\\' && at[1]) at++;
        } else if (*at == '{' || *at == '[') {
            depth++;
        } else if (*at == '}' || *at == ']') {
            depth--;
        } else if (depth == 0) {
            return at + strcspn(at, ",]} \t\r\n"); /* a number, true, false or null */
        }
        if (*at) at++;
    } while (depth > 0 && *at);
    return at;
}

/* The next value of an array or object, from behind its bracket or a value; NULL at its end. */
static inline const char *inside(const char *at)
{
    at = space(at);
    if (*at == ',') at = space(at + 1);
    return *at && *at != ']' && *at != '}' ? at : NULL;
}

/* The value of a field; "" where there is no such field or `object` is no object. */
static inline const char *member(const char *object, const char *key)
{
    size_t length = strlen(key);
    object = space(object);
    if (*object != '{') return "";
    for (const char *at = inside(object + 1); at; at = inside(skip(at))) {
        bool found = !strncmp(at + 1, key, length) && at[length + 1] == '"';
        at = space(skip(at)); /* the colon */
        at = space(*at ? at + 1 : at);
        if (found) return at;
    }
    return "";
}

/* The first element of an array, NULL where there is none. */
static inline const char *first(const char *list) { return *list == '[' ? inside(list + 1) : NULL; }

/* The cards of an array, written from `room` on, which moves behind them. */
static inline Cards cards(const char *list, Card **room)
{
    Cards found = {*room, 0};
    for (const char *at = first(list); at; at = inside(skip(at)), found.count++) {
        size_t length = *at == '"' ? strcspn(at + 1, "\"") : 0;
        snprintf((*room)++->name, sizeof(Card), "%.*s", (int)(length < 7 ? length : 7), at + 1);
    }
    return found;
}

static inline Choice read_choice(const char *text, Card **room)
{
    const char *suit = member(text, "suit");
    return (Choice){cards(member(text, "play"), room), *suit == '"' ? suit[1] : 0,
                    *member(text, "pass") == 't', *member(text, "chance") == 't'};
}

static inline Turn read_turn(const char *line)
{
    static Card *all;
    static Choice *legal;
    const char *view = member(line, "view"), *time = member(line, "time");
    const char *pile = member(view, "pile"), *list = member(line, "legal");
    Turn turn = {.id = atoll(member(line, "id")), .line = line,
                 .time = atol(member(time, "move")), .bank = atol(member(time, "bank"))};
    size_t count = 0;
    for (const char *at = first(list); at; at = inside(skip(at))) count++;
    turn.legal = legal = realloc(legal, (count + 1) * sizeof *legal);
    Card *room = all = realloc(all, (strlen(line) + 1) * sizeof *all); /* more cannot be in it */
    turn.hand = cards(member(view, "hand"), &room);
    turn.table = cards(*pile ? pile : member(member(view, "table"), "cards"), &room);
    for (const char *at = first(list); at; at = inside(skip(at)))
        legal[turn.legals++] = read_choice(at, &room);
    return turn;
}

static inline void answer(long long id, Choice choice)
{
    printf("{\"id\": %lld", id);
    for (size_t i = 0; i < choice.play.count; i++)
        printf("%s\"%s\"", i ? ", " : ", \"play\": [", choice.play.at[i].name);
    if (choice.play.count) putchar(']');
    if (choice.suit) printf(", \"suit\": \"%c\"", choice.suit);
    if (choice.pass) printf(", \"pass\": true");
    if (choice.chance) printf(", \"chance\": true");
    puts("}");
}

static uint32_t chance;

/* By chance a number from 0 to below `count`, the same again in the same deal. */
static inline size_t below(size_t count)
{
    chance = chance * 1664525u + 1013904223u; /* modulo 2^32 */
    return (chance >> 16) % count;
}

/* Talk with the runner until it ends the input. `legal`: "none", "canonical" or "all". */
static inline int run(Choice (*choose)(const Turn *), const char *name, const char *legal)
{
    char *line = NULL, *hello = strdup(""), *deal = strdup("");
    size_t room = 0;
    while (getline(&line, &room, stdin) > 0) {
        const char *type = member(line, "type");
        if (!strncmp(type, "\"hello\"", 7)) {
            free(hello);
            hello = strdup(line);
            printf("{\"type\": \"ready\", \"name\": \"%s\", \"legal\": \"%s\"}\n", name, legal);
        } else if (!strncmp(type, "\"deal\"", 6)) {
            free(deal);
            deal = strdup(line);
            chance = (uint32_t)strtoull(member(line, "seed"), NULL, 10);
        } else if (!strncmp(type, "\"move\"", 6)) {
            Turn turn = read_turn(line);
            turn.hello = hello;
            turn.deal = deal;
            answer(turn.id, choose(&turn));
        }
        fflush(stdout); /* a pipe is not a terminal: without this nobody sees the answer */
    }
    free(line), free(hello), free(deal);
    return 0;
}
