package dev.doorbell.core.problem;

import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/** Finds the words that a user may have meant. */
public final class Nearest {
  private static final int MOST = 3;

  private Nearest() {}

  /** {@code " - did you mean 'a' or 'b'?"}, or nothing when no word is near. */
  public static String suggestion(String word, Collection<String> candidates) {
    List<String> near = to(word, candidates);
    if (near.isEmpty()) {
      return "";
    }
    return near.stream()
        .map(name -> "'" + name + "'")
        .collect(Collectors.joining(", "))
        .transform(names -> "  - did you mean " + names + "?");
  }

  /** Up to three candidates, nearest first. */
  public static List<String> to(String word, Collection<String> candidates) {
    record Scored(String name, int distance) {}
    String lower = word.toLowerCase(Locale.ROOT);
    int limit = Math.max(1, lower.length() / 3);
    return candidates.stream()
        .map(name -> new Scored(name, distanceToName(lower, name.toLowerCase(Locale.ROOT))))
        .filter(scored -> scored.distance <= limit)
        .sorted(Comparator.comparingInt(Scored::distance))
        .limit(MOST)
        .map(Scored::name)
        .toList();
  }

  /** A name of several parts is also near when one of its parts is, only a little less so. */
  private static int distanceToName(String word, String name) {
    int best = distance(word, name);
    if (word.length() >= 2 && name.startsWith(word)) {
      best = Math.min(best, 1);
    }
    if (word.length() >= 3 && isAbbreviation(word, name)) {
      best = Math.min(best, 1);
    }
    if (word.length() >= 3) {
      for (String part : name.split("[.\\-]", -1)) {
        if (part.length() >= 2 && part.length() < name.length()) {
          best = Math.min(best, distance(word, part));
        }
      }
    }
    return best;
  }

  /** Returns whether parts of a name, in order, begin with the parts of a word of several parts. */
  private static boolean isAbbreviation(String word, String name) {
    String[] parts = name.split("[.\\-]", -1);
    String[] asked = word.split("[.\\-]", -1);
    int found = 0;
    for (int i = 0; i < parts.length && found < asked.length; i++) {
      found += !asked[found].isEmpty() && parts[i].startsWith(asked[found]) ? 1 : 0;
    }
    return asked.length > 1 && found == asked.length;
  }

  /**
   * Edits from one word to the other: insert, delete, change a letter, or swap two neighbours
   * (optimal string alignment).
   */
  static int distance(String a, String b) {
    int[][] edits = new int[a.length() + 1][b.length() + 1];
    for (int i = 0; i <= a.length(); i++) {
      for (int j = 0; j <= b.length(); j++) {
        if (i == 0 || j == 0) {
          edits[i][j] = i + j;
          continue;
        }
        int change = a.charAt(i - 1) == b.charAt(j - 1) ? 0 : 1;
        int best =
            Math.min(edits[i - 1][j - 1] + change, Math.min(edits[i - 1][j], edits[i][j - 1]) + 1);
        if (i > 1
            && j > 1
            && a.charAt(i - 1) == b.charAt(j - 2)
            && a.charAt(i - 2) == b.charAt(j - 1)) {
          best = Math.min(best, edits[i - 2][j - 2] + 1);
        }
        edits[i][j] = best;
      }
    }
    return edits[a.length()][b.length()];
  }
}
