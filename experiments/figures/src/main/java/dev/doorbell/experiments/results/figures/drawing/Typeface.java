package dev.doorbell.experiments.results.figures.drawing;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import org.apache.fontbox.ttf.CmapLookup;
import org.apache.fontbox.ttf.TTFParser;
import org.apache.fontbox.ttf.TrueTypeFont;
import org.apache.pdfbox.io.RandomAccessReadBuffer;
import org.apache.pdfbox.pdmodel.PDDocument;

/** Liberation Sans, the typeface of all texts: its file, and its measures for laying out text. */
public final class Typeface {
  static final String NAME = "Liberation Sans";

  private static final double WIDER = 1.18;

  private static final String RESOURCE =
      "/org/apache/pdfbox/resources/ttf/LiberationSans-Regular.ttf";

  private static final Typeface FACE = load();

  private final int[] advances = new int[Character.MAX_VALUE + 1];
  private final boolean[] drawable = new boolean[advances.length];
  private final double unitsPerEm;
  private final double capHeight;

  private Typeface(TrueTypeFont font) throws IOException {
    CmapLookup glyphs = font.getUnicodeCmapLookup();
    for (int c = ' '; c < advances.length; c++) {
      int glyph = glyphs.getGlyphId(c);
      drawable[c] = glyph != 0;
      advances[c] = font.getAdvanceWidth(glyph);
    }
    unitsPerEm = font.getUnitsPerEm();
    capHeight = font.getPath("H").getBounds2D().getMaxY();
  }

  private static Typeface load() {
    try (InputStream file = open();
        TrueTypeFont font = new TTFParser().parse(new RandomAccessReadBuffer(file))) {
      return new Typeface(font);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  static InputStream open() {
    InputStream opened = PDDocument.class.getResourceAsStream(RESOURCE);
    if (opened == null) {
      throw new IllegalStateException(
          RESOURCE + " is not in the PDFBox on the class path; the pinned version has it");
    }
    return opened;
  }

  /** Advance width of a text, points; kerning is not applied, and the writers apply none. */
  public static double width(String text, double size) {
    double units = 0;
    for (int i = 0; i < text.length(); i++) {
      units += FACE.advances[text.charAt(i)];
    }
    return units / FACE.unitsPerEm * size;
  }

  /** Width to keep free for a text, points: others may set it in a wider typeface. */
  public static double room(String text, double size) {
    return WIDER * width(text, size);
  }

  /** Height of a capital letter, points. */
  public static double capHeight(double size) {
    return FACE.capHeight / FACE.unitsPerEm * size;
  }

  /** The text with every character that the typeface lacks replaced by a question mark. */
  static String drawable(String text) {
    StringBuilder drawable = new StringBuilder(text.length());
    text.codePoints()
        .forEach(
            c -> drawable.append(c < FACE.drawable.length && FACE.drawable[c] ? (char) c : '?'));
    return drawable.toString();
  }
}
