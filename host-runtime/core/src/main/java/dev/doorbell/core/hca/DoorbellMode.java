package dev.doorbell.core.hca;

/** Who rings, and how. */
public enum DoorbellMode {
  /** A GPU thread stores 8 bytes to the UAR page. */
  GPU,
  /** A GPU thread stores whole WQEs to the BlueFlame register. */
  BLUEFLAME,
  /** A GPU thread raises a counter that the CPU watches; the CPU rings. */
  CPU
}
