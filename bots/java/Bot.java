import java.io.IOException;

/** The simplest complete bot in Java: it asks for the legal answers and picks one by chance. */
public final class Bot {

    private static Protocol.Choice choose(Protocol.Turn turn) {
        return turn.legal().get(Protocol.below(turn.legal().size()));
    }

    public static void main(String[] args) throws IOException {
        Protocol.run(Bot::choose, "java", "canonical");
    }
}
