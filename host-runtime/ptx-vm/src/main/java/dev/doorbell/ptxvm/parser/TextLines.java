package dev.doorbell.ptxvm.parser;

import java.util.AbstractList;
import java.util.RandomAccess;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** Lines of a text, cut out when they are asked for: only messages and listings do. */
final class TextLines extends AbstractList<String> implements RandomAccess {
  /** Each problem of a line has its text. */
  private static final int MOST_SHOWN = 1000;

  private final String text;

  /** The offset of the first character of each line, once they have been asked for. */
  private int @Nullable [] starts;

  TextLines(String text) {
    this.text = text;
  }

  private synchronized int[] starts() {
    int[] known = starts;
    if (known == null) {
      known =
          IntStream.range(0, text.length())
              .filter(at -> at == 0 || text.charAt(at - 1) == '\n')
              .toArray();
      starts = known;
    }
    return known;
  }

  @Override
  public String get(int line) {
    int[] starts = starts();
    int end = line + 1 < starts.length ? starts[line + 1] : text.length();
    int shown = Math.min(end, starts[line] + MOST_SHOWN);
    return text.substring(starts[line], shown).stripTrailing() + (shown < end - 1 ? " ..." : "");
  }

  @Override
  public int size() {
    return starts().length;
  }
}
