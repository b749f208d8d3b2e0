package dev.doorbell.experiments.fuzz;

import java.util.Objects;

/**
 * An input that a reader neither read nor refused.
 *
 * @param target name of the target
 * @param number of the input; with the seed it makes the input again
 * @param kind what happened
 * @param input its bytes
 * @param detail the exception with the first frames, or where the reader was at the deadline
 */
@SuppressWarnings("ArrayRecordComponent") // written to a file, never compared
public record FuzzFinding(String target, long number, Kind kind, byte[] input, String detail) {
  private static final int FRAMES = 12;

  /** What a finding is. */
  public enum Kind {
    CRASH("crash"),
    HANG("hang"),
    MEMORY("memory changed");

    private final String text;

    Kind(String text) {
      this.text = text;
    }

    /** Returns the word of reports. */
    public String text() {
      return text;
    }
  }

  static FuzzFinding crash(String target, long number, byte[] input, Throwable thrown) {
    return new FuzzFinding(
        target, number, Kind.CRASH, input, thrown + "\n" + frames(thrown.getStackTrace()));
  }

  static FuzzFinding hang(String target, long number, byte[] input, Thread reader) {
    return new FuzzFinding(target, number, Kind.HANG, input, frames(reader.getStackTrace()));
  }

  static String frames(StackTraceElement[] stack) {
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < Math.min(FRAMES, stack.length); i++) {
      text.append("    at ").append(stack[i]).append('\n');
    }
    return text.toString();
  }

  /** Returns true if both were most likely caused by the same fault. */
  boolean resembles(FuzzFinding other) {
    return target.equals(other.target)
        && kind == other.kind
        && Objects.equals(place(detail), place(other.detail));
  }

  /** The type of the exception and the first frame. */
  private static String place(String detail) {
    String[] lines = detail.split("\n", -1);
    String first = lines[0].replaceFirst(":.*", "");
    return lines.length > 1 ? first + lines[1] : first;
  }
}
