package dev.doorbell.core.hca.generated;

import javax.annotation.processing.Generated;

/**
 * Error numbers of Linux (errno.h) that drivers and verbs answer with.
 *
 * <p>Written by FormatsTest from src/main/formats/errno.txt.
 */
@Generated("FormatsTest")
public class ErrnoTable {
  public static final int EPERM = 1;

  public static final int ENOENT = 2;

  public static final int ESRCH = 3;

  public static final int EBADF = 9;

  public static final int EAGAIN = 11;

  public static final int ENOMEM = 12;

  public static final int EACCES = 13;

  public static final int EFAULT = 14;

  public static final int EBUSY = 16;

  public static final int ENODEV = 19;

  public static final int EINVAL = 22;

  public static final int ENOSPC = 28;

  public static final int ENOSYS = 38;

  public static final int ENODATA = 61;

  public static final int EPROTO = 71;

  public static final int EPROTONOSUPPORT = 93;

  public static final int EOPNOTSUPP = 95;

  public static final int EAFNOSUPPORT = 97;

  public static final int EADDRINUSE = 98;

  public static final int EADDRNOTAVAIL = 99;

  public static final int EISCONN = 106;

  public static final int ETIMEDOUT = 110;

  public static final int EHOSTUNREACH = 113;

  public static final int EREMOTEIO = 121;

  protected ErrnoTable() {}

  /** Explains a number where errors of this kind are common. */
  public static String explained(int code) {
    return switch (code) {
      case EPERM -> "EPERM, not permitted";
      case ENOENT -> "ENOENT, no such file";
      case ESRCH -> "ESRCH, no such process";
      case EAGAIN -> "EAGAIN, try again";
      case ENOMEM -> "ENOMEM, out of memory or over a limit";
      case EACCES -> "EACCES, access denied";
      case EFAULT -> "EFAULT, bad address";
      case EBUSY -> "EBUSY, in use";
      case ENODEV -> "ENODEV, no such device";
      case EINVAL -> "EINVAL, invalid argument";
      case ENOSYS -> "ENOSYS, not in this kernel";
      case EOPNOTSUPP -> "EOPNOTSUPP, not supported";
      case EREMOTEIO -> "EREMOTEIO, refused by the firmware";
      default -> "";
    };
  }
}
