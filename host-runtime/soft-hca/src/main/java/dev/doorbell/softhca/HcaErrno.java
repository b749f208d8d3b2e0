package dev.doorbell.softhca;

/** Error numbers that a real driver would give for the same refusal. */
final class HcaErrno {
  static final int ENOMEM = 12;
  static final int EBUSY = 16;
  static final int EINVAL = 22;

  private HcaErrno() {}
}
