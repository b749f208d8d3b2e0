package dev.doorbell.experiments.results.figures;

import dev.doorbell.experiments.results.figures.drawing.Ink;
import dev.doorbell.experiments.results.figures.drawing.Node.Dash;

/** Sizes, in points, and greys that all figures share: set for print at their full size. */
final class Theme {

  /** One column of a two-column paper, 3 1/3 inches. */
  static final double ONE_COLUMN = 240;

  /** The full width of a two-column paper, 7 inches. */
  static final double TWO_COLUMNS = 504;

  static final double TEXT = 7;
  static final double SMALL = 6.5;
  static final double NOTE = 5.5;

  static final double LINE = 1.15;
  static final double HAIR = 0.5;
  static final double MARKER = 2.1;

  static final Ink INK = new Ink(0x222222);
  static final Ink QUIET = new Ink(0x6B6B6B);
  static final Ink FRAME = new Ink(0x8C8C8C);
  static final Ink RULE = new Ink(0xE8E8E8);
  static final Ink BAND = new Ink(0xDFE3E8);
  static final Ink BAND_CENTRE = new Ink(0x7A8796);

  static final Dash CEILING = new Dash(3, 2);

  private Theme() {}
}
