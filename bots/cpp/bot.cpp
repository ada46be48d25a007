// The simplest complete bot in C++: it asks for the legal answers and picks one by chance.
//
// JSON is read where it lies in the line: a value is a view of the text, `take` cuts the next
// value off a text, `member` finds a field of an object. Unknown messages and fields are ignored.
#include <algorithm>
#include <cstdint>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

using Text = std::string_view;

constexpr Text SPACE = " \t\r\n";

// Drops leading characters out of `which`.
void drop(Text &text, Text which)
{
    text.remove_prefix(std::min(text.find_first_not_of(which), text.size()));
}

// Cuts the first value off `text` and returns it.
Text take(Text &text)
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

// Whether another value follows in the array or object whose rest is `text`.
bool more(Text &text)
{
    drop(text, " \t\r\n,:");
    return !text.empty() && text[0] != ']' && text[0] != '}';
}

// The value of a field; empty where there is no such field or `object` is no object.
Text member(Text object, const std::string &key)
{
    if (object.empty() || object[0] != '{') return {};
    object.remove_prefix(1);
    while (more(object)) {
        const bool found = take(object) == '"' + key + '"';
        if (!more(object)) break;
        const Text value = take(object);
        if (found) return value;
    }
    return {};
}

int main()
{
    std::ios::sync_with_stdio(false);
    std::uint32_t chance = 0;
    for (std::string line; std::getline(std::cin, line);) {
        Text message = line;
        drop(message, SPACE);
        const Text type = member(message, "type");
        if (type == "\"hello\"") {
            std::cout << R"({"type": "ready", "name": "cpp", "legal": "canonical"})" << std::endl;
        } else if (type == "\"deal\"") {
            chance = static_cast<std::uint32_t>(std::stoull("0" + std::string(member(message, "seed"))));
        } else if (type == "\"move\"") {
            Text list = member(message, "legal");
            std::vector<Text> legal;
            list.remove_prefix(std::min<std::size_t>(1, list.size()));
            while (more(list)) legal.push_back(take(list));
            if (legal.empty()) continue;
            chance = chance * 1664525u + 1013904223u;  // modulo 2^32
            const Text choice = legal[(chance >> 16) % legal.size()];
            // The answer is the legal one with the id of the request put in front; endl flushes.
            std::cout << "{\"id\": " << member(message, "id") << ", " << choice.substr(1) << std::endl;
        }
    }
}
