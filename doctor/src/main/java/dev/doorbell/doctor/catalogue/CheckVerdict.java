package dev.doorbell.doctor.catalogue;

/** How good or bad a finding is; best first. */
public enum CheckVerdict {
  /** As it should be. */
  PASS,
  /** Worth knowing; nothing is to be done. */
  INFO,
  /** Not there, or out of reach: nothing can be said. */
  ABSENT,
  /** Works, but slower or more fragile than it could. */
  WARN,
  /** There, and broken. */
  FAIL
}
