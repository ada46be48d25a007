/* The simplest complete bot in C: it asks for the legal answers and picks one by chance.
 *
 * JSON is read where it lies in the line: a value is a pointer to its first character, `skip`
 * steps over it, `member` finds a field of an object. Unknown messages and fields are ignored.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *space(const char *at) { return at + strspn(at, " \t\r\n"); }

/* The end of the value that starts at `at`. */
static const char *skip(const char *at)
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

/* The first value inside an array or object that has not ended, else NULL. */
static const char *inside(const char *at)
{
    at = space(at);
    if (*at == ',') at = space(at + 1);
    return *at && *at != ']' && *at != '}' ? at : NULL;
}

/* The value of a field, or NULL where there is no such field or `object` is no object. */
static const char *member(const char *object, const char *key)
{
    size_t length = strlen(key);
    if (!object || *object != '{') return NULL;
    for (const char *at = inside(object + 1); at; at = inside(skip(at))) {
        int found = !strncmp(at + 1, key, length) && at[length + 1] == '"';
        at = space(skip(at)); /* the colon */
        at = space(*at ? at + 1 : at);
        if (found) return at;
    }
    return NULL;
}

int main(void)
{
    char *line = NULL;
    size_t room = 0;
    uint32_t chance = 0;

    while (getline(&line, &room, stdin) > 0) {
        const char *message = space(line);
        const char *type = member(message, "type");
        if (!type) continue;
        if (!strncmp(type, "\"hello\"", 7)) {
            puts("{\"type\": \"ready\", \"name\": \"c\", \"legal\": \"canonical\"}");
        } else if (!strncmp(type, "\"deal\"", 6)) {
            const char *seed = member(message, "seed");
            chance = seed ? (uint32_t)strtoull(seed, NULL, 10) : 0;
        } else if (!strncmp(type, "\"move\"", 6)) {
            const char *id = member(message, "id"), *legal = member(message, "legal");
            const char *at;
            uint32_t count = 0, pick;
            if (!id || !legal) continue;
            for (at = inside(legal + 1); at; at = inside(skip(at))) count++;
            if (!count) continue;
            chance = chance * 1664525u + 1013904223u; /* modulo 2^32 */
            pick = (chance >> 16) % count;
            for (at = inside(legal + 1); pick; pick--) at = inside(skip(at));
            /* The answer is the legal one with the id of the request put in front. */
            printf("{\"id\": %.*s, %.*s\n", (int)(skip(id) - id), id, (int)(skip(at) - at - 1), at + 1);
        }
        fflush(stdout); /* a pipe is not a terminal: without this nobody sees the answer */
    }
    free(line);
    return 0;
}
