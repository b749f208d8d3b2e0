package dev.doorbell.experiments.plan;

/**
 * A constant that a modelled number rests on.
 *
 * @param name with its topology where they differ, such as {@code same-switch.L_GN}
 * @param source where it comes from: a document and its section, or the run that measured it
 */
public record ModelConstant(String name, double value, String unit, Origin origin, String source) {

  /** Origin of a constant. */
  public enum Origin {
    /** Measured on this machine. */
    MEASURED_HERE,
    /** Chosen so that the model gives published measurements, whose rows the source names. */
    FITTED,
    /** Published by those who measured or specified it. */
    CITED,
    /** Taken to be so; the reader may disagree. */
    ASSUMED
  }
}
