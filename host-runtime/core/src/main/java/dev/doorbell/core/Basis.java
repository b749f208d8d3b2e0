package dev.doorbell.core;

/** What a number may be called; printed beside every one. */
public enum Basis {
  /** Wall time on the hardware that the claim is about. */
  MEASURED,
  /** Wall time of the emulation: says how fast Doorbell is, nothing about an HCA. */
  EMULATED,
  /** Virtual time over a path model whose every constant has a source. */
  MODELLED;

  /** The lower-case word used in records and tables. */
  public String word() {
    return name().toLowerCase(java.util.Locale.ROOT);
  }
}
