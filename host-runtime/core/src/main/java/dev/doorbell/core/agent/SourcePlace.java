package dev.doorbell.core.agent;

/**
 * The place of an agent in a program.
 *
 * @param file of the program, for example {@code put_rate.ptx}
 * @param line from 1
 * @param text of the line, without blanks around it
 * @param source {@code file:line} of what the program was compiled from, or empty
 */
public record SourcePlace(String file, int line, String text, String source) {
  @Override
  public String toString() {
    String at = "%s:%d  %s".formatted(file, line, text);
    return source.isEmpty() ? at : at + "  (" + source + ")";
  }
}
