package dev.doorbell.doctor.catalogue;

/** Severity of a code; best first. */
public enum CheckVerdict {
  /** The requirement is met. */
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
