package dev.doorbell.experiments.config.figure;

import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The kinds of figures, with the keys that mean something in each and those that it cannot lack.
 */
public enum FigureKind {
  /** A metric against an axis of numbers, with intervals, crossovers and ceilings. */
  LINE("x y", "series facet logx logy"),
  /** Shares of the samples up to a value. */
  CDF("y", "series facet"),
  /** Medians side by side, with intervals: bars, or positions where the ordinate is logarithmic. */
  BAR("x y", "series facet logy"),
  /** Who is ahead over two axes, and by how much. */
  HEATMAP("x rows series y", "facet"),
  /** Events of one message over time. */
  TIMELINE("", ""),
  /** Influence of each constant of the model on a prediction. */
  TORNADO("y", "share");

  private final String needed;
  private final String optional;

  FigureKind(String needed, String optional) {
    this.needed = needed;
    this.optional = optional;
  }

  /** Returns the word of configs and the command line. */
  public String word() {
    return name().toLowerCase(Locale.ROOT);
  }

  /** Whether there is a kind of that word. */
  static boolean isWord(String word) {
    return Stream.of(values()).anyMatch(kind -> kind.word().equals(word));
  }

  /** The kind of a word that there is. */
  static FigureKind of(String word) {
    return valueOf(word.toUpperCase(Locale.ROOT));
  }

  /** Keys that a figure of this kind cannot lack. */
  List<String> needed() {
    return words(needed);
  }

  /** Whether a key means something in it. */
  boolean accepts(String key) {
    return words(needed).contains(key) || words(optional).contains(key);
  }

  /** All keys that speak of what it shows, for problems. */
  String keys() {
    return Stream.of(words(needed), words(optional), List.of("only"))
        .flatMap(List::stream)
        .collect(Collectors.joining(", "));
  }

  private static List<String> words(String text) {
    return text.isEmpty() ? List.of() : List.of(text.split(" ", -1));
  }
}
