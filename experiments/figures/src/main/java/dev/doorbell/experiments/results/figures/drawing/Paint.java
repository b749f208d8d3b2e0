package dev.doorbell.experiments.results.figures.drawing;

/**
 * An opaque sRGB colour. There is no transparency: some venues refuse it, and flattening it changes
 * bytes.
 *
 * @param rgb 0xRRGGBB
 */
public record Paint(int rgb) {

  public static final Paint WHITE = new Paint(0xFFFFFF);
  public static final Paint BLACK = new Paint(0x000000);

  public Paint {
    if ((rgb & 0xFF000000) != 0) {
      throw new IllegalArgumentException("rgb=0x" + Integer.toHexString(rgb));
    }
  }

  /** The colour as it shows on white paper at {@code share} of its strength, 0 to 1. */
  public Paint tint(double share) {
    int mixed = 0;
    for (int shift = 16; shift >= 0; shift -= 8) {
      int channel = (rgb >> shift) & 0xFF;
      mixed |= (int) Math.round(255 + (channel - 255) * share) << shift;
    }
    return new Paint(mixed);
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

  /** Its notation in CSS, {@code #rrggbb}. */
  public String hex() {
    return "#" + Integer.toHexString(0x1000000 | rgb).substring(1);
  }
}
