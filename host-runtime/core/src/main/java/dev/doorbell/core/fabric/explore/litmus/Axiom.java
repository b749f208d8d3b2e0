package dev.doorbell.core.fabric.explore.litmus;

/** The axioms of the PTX ISA, chapter "Memory Consistency Model", section "Axioms". */
public enum Axiom {
  /** Writes that causality orders are in that order in coherence, too. */
  COHERENCE("coherence"),
  /** The order of {@code fence.sc} does not contradict causality. */
  FENCE_SC("fence-sc"),
  /** No write comes between the read and the write of an atomic. */
  ATOMICITY("atomicity"),
  /** No value is its own reason. */
  NO_THIN_AIR("no-thin-air"),
  /** Each location by itself is sequentially consistent for morally strong accesses. */
  SC_PER_LOCATION("sc-per-location"),
  /** Nobody reads what causality puts later, or what it has overwritten. */
  CAUSALITY("causality");

  private final String text;

  Axiom(String text) {
    this.text = text;
  }

  /** Its name in reports. */
  public String text() {
    return text;
  }
}
