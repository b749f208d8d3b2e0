package dev.doorbell.experiments.results.figures.drawing;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import org.apache.fontbox.ttf.CmapLookup;
import org.apache.fontbox.ttf.TTFParser;
import org.apache.fontbox.ttf.TrueTypeFont;
import org.apache.pdfbox.io.RandomAccessReadBuffer;
import org.apache.pdfbox.pdmodel.PDDocument;

/** Liberation Sans: its file, and its measures for laying out text. */
public final class Typeface {

  static final String NAME = "Liberation Sans";

  private static final String RESOURCE =
      "/org/apache/pdfbox/resources/ttf/LiberationSans-Regular.ttf";

  private static final Typeface SHARED = load();

  private final int[] advances;
  private final boolean[] drawable;
  private final double unitsPerEm;
  private final double capHeight;

  private Typeface(int[] advances, boolean[] drawable, double unitsPerEm, double capHeight) {
    this.advances = advances;
    this.drawable = drawable;
    this.unitsPerEm = unitsPerEm;
    this.capHeight = capHeight;
  }

  /** Advance width of a text, points; kerning is not applied, and the writers apply none. */
  public static double width(String text, double size) {
    double units = 0;
    for (int i = 0; i < text.length(); i++) {
      units += SHARED.advances[text.charAt(i)];
    }
    return units / SHARED.unitsPerEm * size;
  }

  /** Height of a capital letter, points. */
  public static double capHeight(double size) {
    return SHARED.capHeight / SHARED.unitsPerEm * size;
  }

  /** The text with every character that the typeface lacks replaced by a question mark. */
  static String drawable(String text) {
    StringBuilder drawable = new StringBuilder(text.length());
    text.codePoints()
        .forEach(
            c ->
                drawable.append(c < SHARED.drawable.length && SHARED.drawable[c] ? (char) c : '?'));
    return drawable.toString();
  }

  static InputStream open() {
    InputStream file = PDDocument.class.getResourceAsStream(RESOURCE);
    if (file == null) {
      throw new IllegalStateException(
          RESOURCE + " is not in the PDFBox on the class path; the pinned version has it");
    }
    return file;
  }

  private static Typeface load() {
    try (InputStream file = open();
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
      return new Typeface(advances, drawable, font.getUnitsPerEm(), capHeight);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
