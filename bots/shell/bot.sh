#!/bin/sh
# The simplest complete bot for a POSIX shell: it asks for the legal answers and picks one by
# chance. The shell reads the lines; awk, which every system has, reads the JSON in them.
#
# `cut` gives the text of the value that begins at `at` and steps over it; `member` finds a field
# of an object. Unknown messages and fields are ignored.
READ='
function blank() { while (index(" \t\r\n,:", substr(line, at, 1)) && at <= length(line)) at++ }
function cut(    from, depth, here) {
    from = at; depth = 0
    do {
        here = substr(line, at, 1)
        if (here == "\"") {
            for (at++; at <= length(line) && (here = substr(line, at, 1)) != "\""; at++)
                if (here == "\\") at++
        } else if (here == "{" || here == "[") depth++
        else if (here == "}" || here == "]") depth--
        else if (depth == 0) {
            while (at <= length(line) && !index(",]} \t\r\n", substr(line, at, 1))) at++
            break
        } else at += match(substr(line, at), /["{}[\]]/) ? RSTART - 2 : length(line)
        at++
    } while (depth > 0 && at <= length(line))
    return substr(line, from, at - from)
}
function member(object, key,    name, value) {
    line = object; at = 2
    for (blank(); substr(line, at, 1) == "\""; blank()) {
        name = cut(); blank(); value = cut()
        if (name == "\"" key "\"") return value
    }
    return ""
}
{
    sub(/^[ \t\r]+/, ""); message = $0
    type = member(message, "type")
    if (type == "\"hello\"") reply = "{\"type\": \"ready\", \"name\": \"shell\", \"legal\": \"canonical\"}"
    else if (type == "\"deal\"") chance = member(message, "seed") % 4294967296
    else if (type == "\"move\"") {
        id = member(message, "id"); line = member(message, "legal"); at = 2; count = 0
        for (blank(); at < length(line); blank()) legal[count++] = cut()
        if (count) {
            chance = (chance * 1664525 + 1013904223) % 4294967296  # below 2 ** 53, so exact
            # The answer is the legal one with the id of the request put in front.
            reply = "{\"id\": " id ", " substr(legal[int(chance / 65536) % count], 2)
        }
    }
    printf "%.0f %s\n", chance, reply
}'

chance=0
while IFS= read -r line; do
    said=$(printf '%s\n' "$line" | awk -v chance="$chance" "$READ")
    chance=${said%% *} # it has to be kept here: each line has an awk of its own
    reply=${said#* }
    [ -z "$reply" ] || printf '%s\n' "$reply"
done
