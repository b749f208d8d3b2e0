package dev.doorbell.core.fabric.timed.machine;

/**
 * One constant of a topology with its origin: what makes a modelled number checkable.
 *
 * @param key where it stands in the topology, for example {@code gpu0.fence_ns}
 * @param value its value; 1 and 0 for yes and no
 * @param unit of the value: {@code ns}, {@code bytes}, {@code gb_s} (10^9 bytes a second), or empty
 * @param origin how much it is to be believed
 * @param source where it comes from, in words
 */
public record Constant(String key, double value, String unit, Origin origin, String source) {

  /** Where a constant comes from. */
  public enum Origin {
    /** Measured by this project. */
    MEASURED_HERE("measured here"),
    /** Chosen so that the model gives published measurements, whose rows the source names. */
    FITTED("fitted to"),
    /** Published by somebody who measured or specified it. */
    CITED("cited"),
    /** Taken to be so; the reader may disagree. */
    ASSUMED("assumed");

    private final String word;

    Origin(String word) {
      this.word = word;
    }

    /** The word that begins a source in a topology file. */
    public String word() {
      return word;
    }
  }
}
