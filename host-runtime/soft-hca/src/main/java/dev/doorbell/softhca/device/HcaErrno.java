package dev.doorbell.softhca.device;

/** Error numbers that a real driver would give for the same refusal. */
public final class HcaErrno {
  public static final int ENOMEM = 12;
  public static final int EBUSY = 16;
  public static final int EINVAL = 22;

  private HcaErrno() {}
}
