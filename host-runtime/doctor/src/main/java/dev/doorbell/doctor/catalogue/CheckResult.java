package dev.doorbell.doctor.catalogue;

/**
 * A code met on a machine.
 *
 * @param where the device, file or variable; empty when the whole machine is meant
 * @param what the case with its numbers
 */
public record CheckResult(Code code, String where, String what) {
  public CheckVerdict verdict() {
    return code.verdict();
  }

  /** {@code where}, then {@code what}. */
  public String text() {
    return where.isEmpty() ? what : where + ": " + what;
  }
}
