package dev.doorbell.interop.shim;

/** Error numbers of Linux (asm-generic/errno.h) that commands are answered with. */
final class Errno {
  static final int ENOENT = 2;
  static final int EIO = 5;
  static final int EBADF = 9;
  static final int ENOMEM = 12;
  static final int EACCES = 13;
  static final int EFAULT = 14;
  static final int EBUSY = 16;
  static final int EINVAL = 22;
  static final int ENOSPC = 28;
  static final int ENODATA = 61;
  static final int EPROTO = 71;
  static final int EPROTONOSUPPORT = 93;
  static final int EOPNOTSUPP = 95;
  static final int EREMOTEIO = 121;

  private Errno() {}
}
