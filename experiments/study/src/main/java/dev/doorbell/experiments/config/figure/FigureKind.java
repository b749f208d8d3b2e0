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
  LINE(
      "x y",
      "series facet logx logy statistic per relative",
      "xrange xunit yrange yunit order palette annotate"),
  /** Shares of the samples up to a value. */
  CDF("y", "series facet", "xrange xunit order palette annotate"),
  /** Medians side by side, with intervals: bars, or positions where the ordinate is logarithmic. */
  BAR("x y", "series facet logy statistic per relative", "yrange yunit order palette annotate"),
  /** Who is ahead over two axes, and by how much. */
  HEATMAP("x rows series y", "facet", "order palette"),
  /** Events of one message over time. */
  TIMELINE("", "", ""),
  /** Influence of each constant of the model on a prediction. */
  TORNADO("y", "share", "");

  /** Keys of every kind beside its looks. */
  private static final String COMMON = "kind name only";

  /** Keys of the looks of every kind. */
  private static final String LOOKS = "names title caption width fontsize legend footer";

  private final String needed;
  private final String optional;
  private final String looks;

  FigureKind(String needed, String optional, String looks) {
    this.needed = needed;
    this.optional = optional;
    this.looks = looks;
  }

  public String word() {
    return name().toLowerCase(Locale.ROOT);
  }

  static boolean isWord(String word) {
    return Stream.of(values()).anyMatch(kind -> kind.word().equals(word));
  }

  static FigureKind of(String word) {
    return valueOf(word.toUpperCase(Locale.ROOT));
  }

  List<String> needed() {
    return words(needed);
  }

  boolean accepts(String key) {
    return Stream.of(COMMON, needed, optional, looks, LOOKS)
        .anyMatch(keys -> words(keys).contains(key));
  }

  /** All keys that mean something in it but {@code name} and {@code kind}, for problems. */
  String keys() {
    return Stream.of(words(needed), words(optional), List.of("only"), words(looks), words(LOOKS))
        .flatMap(List::stream)
        .collect(Collectors.joining(", "));
  }

  /** Returns whether a key describes the looks of some kind; all others describe contents. */
  public static boolean isLook(String key) {
    return words(LOOKS).contains(key)
        || Stream.of(values()).anyMatch(kind -> words(kind.looks).contains(key));
  }

  private static List<String> words(String text) {
    return text.isEmpty() ? List.of() : List.of(text.split(" ", -1));
  }
}
