package dev.doorbell.experiments.results.figures.drawing;

/**
 * An opaque sRGB colour. There is no transparency: some venues refuse it, and flattening it changes
 * bytes.
 *
 * @param rgb 0xRRGGBB
 */
public record Ink(int rgb) {

  public static final Ink WHITE = new Ink(0xFFFFFF);
  public static final Ink BLACK = new Ink(0x000000);

  public Ink {
    if ((rgb & 0xFF000000) != 0) {
      throw new IllegalArgumentException("rgb=0x" + Integer.toHexString(rgb));
    }
  }

  /** The colour as it shows on white paper at {@code share} of its strength, 0 to 1. */
  public Ink tint(double share) {
    int mixed = 0;
    for (int shift = 16; shift >= 0; shift -= 8) {
      int channel = (rgb >> shift) & 0xFF;
      mixed |= (int) Math.round(255 + (channel - 255) * share) << shift;
    }
    return new Ink(mixed);
  }

  public int red() {
    return rgb >> 16;
  }

  public int green() {
    return (rgb >> 8) & 0xFF;
  }

  public int blue() {
    return rgb & 0xFF;
  }

  /** As CSS writes it, {@code #rrggbb}. */
  public String hex() {
    return "#" + Integer.toHexString(0x1000000 | rgb).substring(1);
  }
}
