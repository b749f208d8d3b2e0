package dev.doorbell.experiments.results.figures.layout;

import dev.doorbell.experiments.results.figures.drawing.Marker;
import dev.doorbell.experiments.results.figures.drawing.Paint;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * Colours that readers with any of the common colour vision deficiencies tell apart: M. Okabe and
 * K. Ito, "Color Universal Design", 2008, without the yellow, which is too faint for a line on
 * white. Each comes with a marker of its own.
 *
 * <p>A path looks the same in every figure, whichever others are drawn with it: pulls are blue,
 * pushes warm, detours over the host green and black.
 */
public final class Palette {

  public record Style(Paint paint, Marker marker) {}

  private static final Style BLUE = new Style(new Paint(0x0072B2), Marker.DISC);
  private static final Style SKY = new Style(new Paint(0x56B4E9), Marker.SQUARE);
  private static final Style ORANGE = new Style(new Paint(0xE69F00), Marker.TRIANGLE_UP);
  private static final Style VERMILLION = new Style(new Paint(0xD55E00), Marker.TRIANGLE_DOWN);
  private static final Style PURPLE = new Style(new Paint(0xCC79A7), Marker.DIAMOND);
  private static final Style GREEN = new Style(new Paint(0x009E73), Marker.PLUS);
  private static final Style BLACK = new Style(new Paint(0x000000), Marker.CROSS);

  /** In the order in which lines without a place of their own take them. */
  static final List<Style> STYLES = List.of(BLUE, VERMILLION, GREEN, PURPLE, ORANGE, SKY, BLACK);

  private static final Map<String, Style> PATHS =
      Map.of(
          "pull", BLUE,
          "pull.bf", SKY,
          "push.inline", ORANGE,
          "push.bf", VERMILLION,
          "push.memic", PURPLE,
          "push.ring", VERMILLION,
          "staged", GREEN,
          "proxy", BLACK);

  /**
   * "Bright" of P. Tol, "Colour Schemes", SRON/EPS/TN/09-002, issue 3.2, 2021, without its grey.
   */
  private static final List<Integer> BRIGHT =
      List.of(0x4477AA, 0xEE6677, 0x228833, 0xCCBB44, 0x66CCEE, 0xAA3377);

  /** Four greys that lie equally far apart; markers tell further series. */
  private static final List<Integer> GREYS = List.of(0x000000, 0x555555, 0x888888, 0xB5B5B5);

  private final Map<String, Style> styles;

  private Palette(Map<String, Style> styles) {
    this.styles = styles;
  }

  /**
   * A style for each series: its own where the name is a path's and no other of the series has it;
   * the others take what is free, in order. When all colours are taken they begin again, with other
   * markers.
   */
  public static Palette of(List<String> series) {
    Map<String, Style> styles = new HashMap<>();
    for (String name : series) {
      Style own = PATHS.get(name);
      if (own != null && !styles.containsValue(own)) {
        styles.put(name, own);
      }
    }
    List<Style> free = STYLES.stream().filter(style -> !styles.containsValue(style)).toList();
    int taken = 0;
    for (String name : series) {
      if (!styles.containsKey(name)) {
        styles.put(name, taken < free.size() ? free.get(taken) : again(taken - free.size()));
        taken++;
      }
    }
    return new Palette(styles);
  }

  /**
   * The palette of a figure.
   *
   * @param wanted a palette's name, or colours such as {@code #0072B2,#D55E00} in the order of the
   *     series, which begin again where they are fewer; empty for the usual ones
   */
  public static Palette of(List<String> series, String wanted) {
    List<Integer> colours =
        switch (wanted) {
          case "", "okabe-ito" -> List.of();
          case "bright" -> BRIGHT;
          case "grey" -> GREYS;
          default ->
              Stream.of(wanted.split(",", -1)).map(hex -> Integer.parseInt(hex, 1, 7, 16)).toList();
        };
    if (colours.isEmpty()) {
      return of(series);
    }
    Map<String, Style> styles = new HashMap<>();
    List<Style> looks = STYLES;
    for (int i = 0; i < series.size(); i++) {
      Paint paint = new Paint(colours.get(i % colours.size()));
      styles.put(series.get(i), new Style(paint, looks.get(i % looks.size()).marker()));
    }
    return new Palette(styles);
  }

  /** The colours once more, each with the marker of another. */
  private static Style again(int place) {
    Style style = STYLES.get(place % STYLES.size());
    int round = 1 + place / STYLES.size();
    List<Marker> markers = List.of(Marker.values());
    int other = (markers.indexOf(style.marker()) + 3 * round) % markers.size();
    return new Style(style.paint(), markers.get(other));
  }

  public Style style(String series) {
    Style style = styles.get(series);
    if (style == null) {
      throw new IllegalArgumentException("'" + series + "' is none of " + styles.keySet());
    }
    return style;
  }
}
