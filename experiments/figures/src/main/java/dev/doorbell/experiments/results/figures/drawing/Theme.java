package dev.doorbell.experiments.results.figures.drawing;

import dev.doorbell.experiments.results.figures.drawing.Node.Dash;

/** Sizes, in points, and greys that all figures share: set for print at their full size. */
public final class Theme {

  /** One column of a two-column paper, 3 1/3 inches. */
  public static final double ONE_COLUMN = 240;

  /** The full width of a two-column paper, 7 inches. */
  public static final double TWO_COLUMNS = 504;

  public static final double TEXT = 7;
  public static final double SMALL = 6.5;
  public static final double NOTE = 5.5;

  public static final double LINE = 1.15;
  public static final double HAIR = 0.5;
  public static final double MARKER = 2.1;

  public static final Paint INK = new Paint(0x222222);
  public static final Paint QUIET = new Paint(0x6B6B6B);
  public static final Paint FRAME = new Paint(0x8C8C8C);
  public static final Paint RULE = new Paint(0xE8E8E8);
  public static final Paint BAND = new Paint(0xDFE3E8);
  public static final Paint BAND_CENTRE = new Paint(0x7A8796);

  public static final Dash CEILING = new Dash(3, 2);

  private Theme() {}
}
