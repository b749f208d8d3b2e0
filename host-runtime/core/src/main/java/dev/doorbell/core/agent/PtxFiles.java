package dev.doorbell.core.agent;

import java.util.ArrayList;
import java.util.List;

/**
 * Several PTX files that are linked into one module, as one text: behind a line that names it, each
 * file as it is. A text without such lines is one file.
 */
public final class PtxFiles {
  private static final String MARK = "// doorbell: linked file ";

  private PtxFiles() {}

  /**
   * One file of a text.
   *
   * @param before lines of the text before its first one
   */
  public record Part(String name, String text, int before) {}

  /**
   * Returns the text that a GPU loads as one module: files in link order; a single one is the text
   * itself.
   */
  public static String join(List<Part> files) {
    if (files.size() == 1) {
      return files.getFirst().text();
    }
    StringBuilder all = new StringBuilder();
    for (Part file : files) {
      all.append(MARK).append(file.name()).append('\n').append(file.text());
      if (!file.text().endsWith("\n")) {
        all.append('\n');
      }
    }
    return all.toString();
  }

  /** Returns whether a text has several files. */
  public static boolean areJoined(String text) {
    return text.startsWith(MARK);
  }

  /**
   * The files of a text.
   *
   * @param name of the only one
   */
  public static List<Part> split(String name, String text) {
    if (!areJoined(text)) {
      return List.of(new Part(name, text, 0));
    }
    List<Part> parts = new ArrayList<>();
    int line = 0;
    for (int at = 0; at < text.length(); ) {
      int head = text.indexOf('\n', at);
      int next = text.indexOf("\n" + MARK, head);
      int end = next < 0 ? text.length() : next + 1;
      String part = text.substring(head + 1, end);
      line++;
      parts.add(new Part(text.substring(at + MARK.length(), head), part, line));
      for (int i = part.indexOf('\n'); i >= 0; i = part.indexOf('\n', i + 1)) {
        line++;
      }
      at = end;
    }
    return parts;
  }
}
