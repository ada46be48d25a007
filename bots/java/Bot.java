import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/**
 * The simplest complete bot in Java: it asks for the legal answers and picks one by chance.
 *
 * <p>JSON is read where it lies in the line: {@link #end} finds where a value ends, {@link #member}
 * a field of an object, as text. Unknown messages and fields are ignored.
 */
public final class Bot {

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

    /** The values of an array, or the keys and values of an object in turn. */
    private static List<String> values(String list) {
        List<String> found = new ArrayList<>();
        for (int at = 1; at < list.length(); ) {
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
    private static String member(String object, String key) {
        if (object.startsWith("{")) {
            List<String> fields = values(object);
            for (int i = 0; i + 1 < fields.size(); i += 2) {
                if (fields.get(i).equals('"' + key + '"')) {
                    return fields.get(i + 1);
                }
            }
        }
        return "";
    }

    public static void main(String[] args) throws IOException {
        BufferedReader input =
                new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        PrintStream output = new PrintStream(System.out, true, "UTF-8"); // println flushes
        int chance = 0;
        for (String line = input.readLine(); line != null; line = input.readLine()) {
            String message = line.trim();
            String type = member(message, "type");
            if (type.equals("\"hello\"")) {
                output.println("{\"type\": \"ready\", \"name\": \"java\", \"legal\": \"canonical\"}");
            } else if (type.equals("\"deal\"")) {
                chance = (int) Long.parseLong("0" + member(message, "seed"));
            } else if (type.equals("\"move\"")) {
                List<String> legal = values(member(message, "legal"));
                if (!legal.isEmpty()) {
                    chance = chance * 1664525 + 1013904223; // modulo 2^32
                    String choice = legal.get((chance >>> 16) % legal.size());
                    // The answer is the legal one with the id of the request put in front.
                    output.println("{\"id\": " + member(message, "id") + ", " + choice.substring(1));
                }
            }
        }
    }
}
