import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/**
 * A client for the protocol in one file: write a {@code choose} and call {@link #run}, as
 * Bot.java does.
 *
 * <p>JSON is read where it lies in the line, as text. What a {@link Turn} has no name for is read
 * the same way: {@code member(member(turn.line(), "view"), "hand_sizes")}.
 */
public final class Protocol {

    /** What decides. */
    public interface Chooser {
        Choice choose(Turn turn);
    }

    /**
     * Exactly one of play, pass and (in Speahx) chance.
     *
     * <p>A card is a rank of 23456789TJQKA and a suit of SCDH, such as "3S"; a joker is "JK". A two
     * in the pile of Speahx also tells the suit that was called with it: "2S>H".
     *
     * @param suit called with a two in Speahx: S, C, D or H; else empty
     */
    public record Choice(List<String> play, String suit, boolean pass, boolean chance) {}

    /**
     * A request for a move.
     *
     * @param table what is to be beaten; in Speahx the pile, from its bottom
     * @param legal the legal answers, as {@link #run} has asked for them
     * @param time milliseconds for this move
     * @param bank milliseconds that are left of the deal's extra time
     * @param hello the message itself, as are deal and line; empty where there was none
     */
    public record Turn(
            long id,
            List<String> hand,
            List<String> table,
            List<Choice> legal,
            long time,
            long bank,
            String hello,
            String deal,
            String line) {}

    private static int chance;

    private Protocol() {}

    /** By chance a number from 0 to below count, the same again in the same deal. */
    public static int below(int count) {
        chance = chance * 1664525 + 1013904223; // modulo 2^32
        return (chance >>> 16) % count;
    }

    /** Where the value that starts at {@code at} ends. */
    private static int end(String text, int at) {
        int depth = 0;
        do {
            char here = text.charAt(at);
            if (here == '"') {
                for (at++; at < text.length() && text.charAt(at) != '"'; at++) {
                    if (text.charAt(at) == '\\') {
                        at++;
                    }
                }
            } else if (here == '{' || here == '[') {
                depth++;
            } else if (here == '}' || here == ']') {
                depth--;
            } else if (depth == 0) { // a number, true, false or null
                while (at < text.length() && ",]} \t\r\n".indexOf(text.charAt(at)) < 0) {
                    at++;
                }
                return at;
            }
            at++;
        } while (depth > 0 && at < text.length());
        return Math.min(at, text.length());
    }

    /** The values of an array, or the keys and values of an object in turn; else none. */
    public static List<String> values(String list) {
        List<String> found = new ArrayList<>();
        boolean opens = list.startsWith("[") || list.startsWith("{");
        for (int at = opens ? 1 : list.length(); at < list.length(); ) {
            if (" \t\r\n,:".indexOf(list.charAt(at)) >= 0) {
                at++;
                continue;
            }
            if (list.charAt(at) == ']' || list.charAt(at) == '}') {
                break;
            }
            int after = end(list, at);
            found.add(list.substring(at, after));
            at = after;
        }
        return found;
    }

    /** The value of a field; empty where there is no such field or it is no object. */
    public static String member(String object, String key) {
        List<String> fields = values(object);
        for (int i = 0; i + 1 < fields.size(); i += 2) {
            if (fields.get(i).equals('"' + key + '"')) {
                return fields.get(i + 1);
            }
        }
        return "";
    }

    /** The strings of an array. */
    public static List<String> strings(String list) {
        List<String> found = new ArrayList<>();
        for (String value : values(list)) {
            found.add(unquoted(value));
        }
        return found;
    }

    private static String unquoted(String value) {
        return value.startsWith("\"") ? value.substring(1, value.length() - 1) : "";
    }

    private static long number(String value) {
        return value.isEmpty() ? 0 : Long.parseLong(value);
    }

    private static Turn readTurn(String hello, String deal, String line) {
        String view = member(line, "view");
        String time = member(line, "time");
        String pile = member(view, "pile");
        List<Choice> legal = new ArrayList<>();
        for (String it : values(member(line, "legal"))) {
            legal.add(
                    new Choice(
                            strings(member(it, "play")),
                            unquoted(member(it, "suit")),
                            member(it, "pass").equals("true"),
                            member(it, "chance").equals("true")));
        }
        return new Turn(
                number(member(line, "id")),
                strings(member(view, "hand")),
                strings(pile.isEmpty() ? member(member(view, "table"), "cards") : pile),
                legal,
                number(member(time, "move")),
                number(member(time, "bank")),
                hello,
                deal,
                line);
    }

    private static String answer(long id, Choice choice) {
        StringBuilder line = new StringBuilder("{\"id\": ").append(id);
        if (!choice.play().isEmpty()) {
            String cards = String.join("\", \"", choice.play());
            line.append(", \"play\": [\"").append(cards).append("\"]");
        }
        if (!choice.suit().isEmpty()) {
            line.append(", \"suit\": \"").append(choice.suit()).append('"');
        }
        line.append(choice.pass() ? ", \"pass\": true" : "");
        line.append(choice.chance() ? ", \"chance\": true" : "");
        return line.append('}').toString();
    }

    /**
     * Talks with the runner until it ends the input.
     *
     * @param legal whether each turn lists the legal answers: none, canonical or all
     */
    public static void run(Chooser bot, String name, String legal) throws IOException {
        BufferedReader input =
                new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        PrintStream output = new PrintStream(System.out, true, "UTF-8"); // println flushes
        String hello = "";
        String deal = "";
        for (String read = input.readLine(); read != null; read = input.readLine()) {
            String line = read.trim();
            switch (member(line, "type")) {
                case "\"hello\"":
                    hello = line;
                    String ready = "{\"type\": \"ready\", \"name\": \"%s\", \"legal\": \"%s\"}";
                    output.println(String.format(ready, name, legal));
                    break;
                case "\"deal\"":
                    deal = line;
                    chance = (int) number(member(line, "seed"));
                    break;
                case "\"move\"":
                    Turn turn = readTurn(hello, deal, line);
                    output.println(answer(turn.id(), bot.choose(turn)));
                    break;
                default: // more types may come
            }
        }
    }
}
