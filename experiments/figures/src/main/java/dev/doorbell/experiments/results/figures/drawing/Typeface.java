package dev.doorbell.experiments.results.figures.drawing;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import java.util.function.Supplier;
import org.apache.fontbox.ttf.CmapLookup;
import org.apache.fontbox.ttf.TTFParser;
import org.apache.fontbox.ttf.TrueTypeFont;
import org.apache.pdfbox.io.RandomAccessReadBuffer;
import org.apache.pdfbox.pdmodel.PDDocument;
import org.jspecify.annotations.Nullable;

/**
 * A TrueType typeface: its file, and its measures for laying out text. Liberation Sans unless a
 * figure is drawn {@link #during} another.
 */
public final class Typeface {

  private static final String NAME = "Liberation Sans";
  private static final double WIDER = 1.18;

  private static final String RESOURCE =
      "/org/apache/pdfbox/resources/ttf/LiberationSans-Regular.ttf";

  private static final Typeface SHARED = load(NAME, PDDocument.class::getResourceAsStream);

  private static final ScopedValue<Typeface> CURRENT = ScopedValue.newInstance();
  private static final Map<Path, Typeface> FILES = new ConcurrentHashMap<>();

  private final String name;
  private final Function<String, @Nullable InputStream> file;
  private final int[] advances;
  private final boolean[] drawable;
  private final double unitsPerEm;
  private final double capHeight;

  private Typeface(
      String name,
      Function<String, @Nullable InputStream> file,
      int[] advances,
      boolean[] drawable,
      double unitsPerEm,
      double capHeight) {
    this.name = name;
    this.file = file;
    this.advances = advances;
    this.drawable = drawable;
    this.unitsPerEm = unitsPerEm;
    this.capHeight = capHeight;
  }

  /**
   * The typeface of a file.
   *
   * @throws IOException when there is none, or it is not a TrueType font
   */
  public static Typeface of(Path path) throws IOException {
    Path absolute = path.toAbsolutePath().normalize();
    byte[] bytes = Files.readAllBytes(absolute);
    try {
      return FILES.computeIfAbsent(absolute, _ -> load("", _ -> new ByteArrayInputStream(bytes)));
    } catch (UncheckedIOException e) {
      throw e.getCause();
    }
  }

  public <T> T during(Supplier<T> drawing) {
    return ScopedValue.where(CURRENT, this).call(drawing::get);
  }

  static Typeface current() {
    return CURRENT.orElse(SHARED);
  }

  String name() {
    return name;
  }

  boolean usual() {
    return this == SHARED;
  }

  /** Advance width of a text, points; kerning is not applied, and the writers apply none. */
  public static double width(String text, double size) {
    Typeface face = current();
    double units = 0;
    for (int i = 0; i < text.length(); i++) {
      units += face.advances[text.charAt(i)];
    }
    return units / face.unitsPerEm * size;
  }

  /** Width to keep free for a text, points: others may set it in a wider typeface. */
  public static double room(String text, double size) {
    return WIDER * width(text, size);
  }

  /** Height of a capital letter, points. */
  public static double capHeight(double size) {
    return current().capHeight / current().unitsPerEm * size;
  }

  /** The text with every character that the typeface lacks replaced by a question mark. */
  static String drawable(String text) {
    Typeface face = current();
    StringBuilder drawable = new StringBuilder(text.length());
    text.codePoints()
        .forEach(
            c -> drawable.append(c < face.drawable.length && face.drawable[c] ? (char) c : '?'));
    return drawable.toString();
  }

  InputStream open() {
    return open(file);
  }

  private static InputStream open(Function<String, @Nullable InputStream> file) {
    InputStream opened = file.apply(RESOURCE);
    if (opened == null) {
      throw new IllegalStateException(
          RESOURCE + " is not in the PDFBox on the class path; the pinned version has it");
    }
    return opened;
  }

  private static Typeface load(String known, Function<String, @Nullable InputStream> from) {
    try (InputStream file = open(from);
        TrueTypeFont font = new TTFParser().parse(new RandomAccessReadBuffer(file))) {
      CmapLookup glyphs = font.getUnicodeCmapLookup();
      int[] advances = new int[Character.MAX_VALUE + 1];
      boolean[] drawable = new boolean[advances.length];
      for (int c = ' '; c < advances.length; c++) {
        int glyph = glyphs.getGlyphId(c);
        drawable[c] = glyph != 0;
        advances[c] = font.getAdvanceWidth(glyph);
      }
      double capHeight = font.getPath("H").getBounds2D().getMaxY();
      String family =
          known.isEmpty() && font.getNaming() != null ? font.getNaming().getFontFamily() : known;
      return new Typeface(
          family == null ? "" : family, from, advances, drawable, font.getUnitsPerEm(), capHeight);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
