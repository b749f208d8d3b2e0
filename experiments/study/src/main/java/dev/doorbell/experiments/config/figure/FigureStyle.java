package dev.doorbell.experiments.config.figure;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/**
 * The looks of a figure: words, sizes, ranges, units, colours, notes. What is not given is left to
 * the figure. The keys are those of {@code $defs/figure} of the schema, which has checked their
 * values.
 *
 * @param given values by key
 */
public record FigureStyle(ObjectNode given) {
  public static final FigureStyle DEFAULT = new FigureStyle(JsonNodeFactory.instance.objectNode());

  /** Width of a column and of a page of a two-column paper, points of 1/72 inch. */
  public static final double COLUMN = 240;

  /** See {@link #COLUMN}. */
  public static final double PAGE = 504;

  private static final double POINTS_PER_MILLIMETRE = 72 / 25.4;
  private static final Pattern AMOUNT = Pattern.compile("(-?[0-9.]+)([KMG]|ns|us|ms|s)?");
  private static final Pattern NOTE =
      Pattern.compile("(?:x=([^,:]+))?,?(?:y=([^,:]+))?: (.+)", Pattern.DOTALL);

  public enum Place {
    TOP,
    BOTTOM,
    RIGHT,
    NONE,
    TOP_LEFT,
    TOP_RIGHT,
    BOTTOM_LEFT,
    BOTTOM_RIGHT
  }

  /** Role of a word in a figure: several axes may have values of the same name. */
  public enum Role {
    /** A value of the axis of the series. */
    SERIES,
    /** A value of the axis of the abscissa. */
    ABSCISSA,
    /** A value of the axis of a heat map's rows. */
    ROW,
    /** Part of a panel's title. */
    PANEL
  }

  /**
   * A number as users write it.
   *
   * @param unit {@code B} for one with K, M or G, {@code ns} for a time; empty for a bare number
   */
  public record Amount(double value, String unit) {}

  /** Ends of an axis; an end that is not there is the data's. */
  public record Span(Optional<Amount> low, Optional<Amount> high) {}

  /** A text at a place of a panel, or at a line across it where only one coordinate is given. */
  public record Note(Optional<Amount> x, Optional<Amount> y, String text) {}

  public FigureStyle {
    given = given.deepCopy();
  }

  static FigureStyle of(JsonNode figure) {
    ObjectNode given = JsonNodeFactory.instance.objectNode();
    figure.properties().stream()
        .filter(entry -> FigureKind.isLook(entry.getKey()))
        .forEach(entry -> given.set(entry.getKey(), entry.getValue()));
    return given.isEmpty() ? DEFAULT : new FigureStyle(given);
  }

  /** This, and where it says nothing, what another says; names of both. */
  public FigureStyle over(FigureStyle base) {
    if (given.isEmpty()) {
      return base;
    }
    ObjectNode both = base.given.deepCopy();
    both.setAll(given);
    SequencedMap<String, String> names = base.names();
    names.putAll(names());
    if (!names.isEmpty()) {
      ObjectNode node = both.putObject("names");
      names.forEach(node::put);
    }
    return new FigureStyle(both);
  }

  /** This with names by role and word in place of those that were given. */
  public FigureStyle naming(Map<Role, Map<String, String>> names) {
    ObjectNode all = given.deepCopy();
    ObjectNode node = all.putObject("names");
    names.forEach((role, words) -> words.forEach((word, name) -> node.put(key(role, word), name)));
    return new FigureStyle(all);
  }

  private static String key(Role role, String word) {
    return role + " " + word;
  }

  FigureStyle in(FigureKind kind) {
    ObjectNode kept = given.deepCopy();
    kept.remove(kept.propertyNames().stream().filter(key -> !kind.accepts(key)).toList());
    return new FigureStyle(kept);
  }

  /** This without what it says of one axis, {@code x} or {@code y}. */
  FigureStyle without(String axis) {
    ObjectNode kept = given.deepCopy();
    kept.remove(List.of(axis + "range", axis + "unit"));
    if (kept.has("annotate")) {
      ArrayNode notes = kept.putArray("annotate");
      texts("annotate").stream()
          .filter(note -> !note.substring(0, note.indexOf(':')).contains(axis + "="))
          .forEach(notes::add);
    }
    return kept.equals(given) ? this : new FigureStyle(kept);
  }

  public SequencedMap<String, String> names() {
    SequencedMap<String, String> names = new LinkedHashMap<>();
    given
        .path("names")
        .properties()
        .forEach(entry -> names.put(entry.getKey(), entry.getValue().asString()));
    return names;
  }

  /** A word as it is printed in a role, after {@link #naming}. */
  public String shown(Role role, String word) {
    return given.path("names").path(key(role, word)).asString(word);
  }

  /**
   * A panel's title as it is printed, after {@link #naming}; parts with empty names are left out.
   */
  public String title(String panel) {
    return Stream.of(panel.split(", ", -1))
        .map(part -> shown(Role.PANEL, part))
        .filter(part -> !part.isEmpty())
        .collect(Collectors.joining(", "));
  }

  /** Returns what the description prints in place of an axis or a metric, where it says so. */
  public Optional<String> named(String word) {
    return Optional.ofNullable(names().get(word));
  }

  public List<String> order() {
    return texts("order");
  }

  public String title() {
    return given.path("title").asString("");
  }

  /** Caption; empty for the default. */
  public String caption() {
    return given.path("caption").asString("");
  }

  /** Width in points, or that of the figure where none is given. */
  public double width(double otherwise) {
    String text = given.path("width").asString("");
    return switch (text) {
      case "" -> otherwise;
      case "column" -> COLUMN;
      case "page" -> PAGE;
      default -> Double.parseDouble(text.substring(0, text.length() - 2)) * POINTS_PER_MILLIMETRE;
    };
  }

  /** Size of the text in points, or that of the figure where none is given. */
  public double fontSize(double otherwise) {
    return given.path("fontsize").asDouble(otherwise);
  }

  public Span xRange() {
    return span("xrange");
  }

  public Span yRange() {
    return span("yrange");
  }

  /** Unit along the abscissa; empty for the data's. */
  public String xUnit() {
    return given.path("xunit").asString("");
  }

  /** Unit along the ordinate; empty for the data's. */
  public String yUnit() {
    return given.path("yunit").asString("");
  }

  public Place legend() {
    return Place.valueOf(
        given.path("legend").asString("top").toUpperCase(Locale.ROOT).replace('-', '_'));
  }

  /** Returns whether basis, samples and run are printed below. */
  public boolean footer() {
    return given.path("footer").asBoolean(true);
  }

  /** A palette's name, or colours; empty for the usual ones. */
  public String palette() {
    return given.path("palette").asString("");
  }

  public List<Note> notes() {
    List<Note> notes = new ArrayList<>();
    for (String text : texts("annotate")) {
      Matcher parts = NOTE.matcher(text);
      if (!parts.matches()) {
        throw new IllegalStateException("the schema let '%s' pass".formatted(text));
      }
      notes.add(new Note(amount(parts.group(1)), amount(parts.group(2)), parts.group(3)));
    }
    return notes;
  }

  private Span span(String key) {
    String[] ends = given.path(key).asString("..").split("[.][.]", -1);
    return new Span(amount(ends[0]), amount(ends[1]));
  }

  private List<String> texts(String key) {
    List<String> texts = new ArrayList<>();
    given.path(key).forEach(node -> texts.add(node.asString()));
    return texts;
  }

  private static Optional<Amount> amount(@Nullable String text) {
    if (text == null || text.isEmpty()) {
      return Optional.empty();
    }
    Matcher parts = AMOUNT.matcher(text);
    if (!parts.matches()) {
      throw new IllegalStateException("the schema let '%s' pass".formatted(text));
    }
    double number = Double.parseDouble(parts.group(1));
    return Optional.of(
        switch (parts.group(2)) {
          case null -> new Amount(number, "");
          case "K" -> new Amount(number * 0x1p10, "B");
          case "M" -> new Amount(number * 0x1p20, "B");
          case "G" -> new Amount(number * 0x1p30, "B");
          case "us" -> new Amount(number * 1e3, "ns");
          case "ms" -> new Amount(number * 1e6, "ns");
          case "s" -> new Amount(number * 1e9, "ns");
          default -> new Amount(number, "ns");
        });
  }
}
