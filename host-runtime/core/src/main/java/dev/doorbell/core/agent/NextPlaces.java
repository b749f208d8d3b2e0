package dev.doorbell.core.agent;

import java.util.List;

/**
 * The places that may come right after a place of a program.
 *
 * @param places of the same kind as {@link Agent#place}; both ways of a branch, a callee and what
 *     comes behind the call; none where the program or a function of it ends
 * @param line in the program's text, from 1; 0 when it has none
 */
public record NextPlaces(List<?> places, int line, Kind kind) {
  /** The kind of place that they follow. */
  public enum Kind {
    /** Any other instruction. */
    PLAIN,
    /** A branch that closes a loop in which a thread may wait; its first way goes round again. */
    WAIT,
    /** The program stops here with an error: a trap, an assertion that does not hold. */
    FAILURE
  }

  /** No places. */
  public static final NextPlaces NONE = new NextPlaces(List.of(), 0, Kind.PLAIN);
}
