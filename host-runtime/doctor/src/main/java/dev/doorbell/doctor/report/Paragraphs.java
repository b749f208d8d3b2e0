package dev.doorbell.doctor.report;

/** Text in lines that are not too long. */
public final class Paragraphs {
  private static final int WIDTH = 100;

  private Paragraphs() {}

  /** Adds words, where there are any, behind {@code head}, and under it what does not fit. */
  public static void add(StringBuilder text, String head, String words) {
    if (words.isEmpty()) {
      return;
    }
    StringBuilder line = new StringBuilder(head);
    boolean empty = true;
    for (String word : words.split(" ", -1)) {
      if (!empty && line.length() + 1 + word.length() > WIDTH) {
        text.append(line).append('\n');
        line.setLength(0);
        line.append(" ".repeat(head.length()));
        empty = true;
      }
      line.append(empty ? "" : " ").append(word);
      empty = false;
    }
    text.append(line).append('\n');
  }
}
