package dev.doorbell.experiments.config;

import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;

/**
 * The kinds of figures, with the keys that mean something in each and those that it cannot lack.
 */
public enum FigureKind {
  /** A metric against an axis of numbers, with intervals, crossovers and ceilings. */
  LINE(List.of("x", "y"), List.of("series", "facet", "logx", "logy")),
  /** Shares of the samples up to a value. */
  CDF(List.of("y"), List.of("series", "facet")),
  /** Medians side by side, with intervals: bars, or marks where the ordinate is logarithmic. */
  BAR(List.of("x", "y"), List.of("series", "facet", "logy")),
  /** Who is ahead over two axes, and by how much. */
  HEATMAP(List.of("x", "rows", "series", "y"), List.of("facet")),
  /** What happens to one message. */
  TIMELINE(List.of(), List.of()),
  /** What each constant of the model does to a prediction. */
  TORNADO(List.of("y"), List.of("share"));

  private final List<String> needed;
  private final List<String> optional;

  FigureKind(List<String> needed, List<String> optional) {
    this.needed = needed;
    this.optional = optional;
  }

  /** As configs and the command line say it. */
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
    return needed;
  }

  /** Whether a key means something in it. */
  boolean knows(String key) {
    return needed.contains(key) || optional.contains(key);
  }

  /** All keys that speak of what it shows, for problems. */
  String keys() {
    return String.join(
        ", ", Stream.of(needed, optional, List.of("only")).flatMap(List::stream).toList());
  }
}
