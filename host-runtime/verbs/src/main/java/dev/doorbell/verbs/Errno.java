package dev.doorbell.verbs;

/** Error numbers of Linux (errno.h) that verbs answer with. */
final class Errno {
  static final int EPERM = 1;
  static final int ENOENT = 2;
  static final int EAGAIN = 11;
  static final int ENOMEM = 12;
  static final int EACCES = 13;
  static final int EFAULT = 14;
  static final int EBUSY = 16;
  static final int ENODEV = 19;
  static final int EINVAL = 22;
  static final int ENOSYS = 38;
  static final int EOPNOTSUPP = 95;
  static final int EREMOTEIO = 121;

  private Errno() {}

  /** The number with its name, where it is one of those above. */
  static String describe(int errno) {
    String name =
        switch (errno) {
          case EPERM -> "EPERM, not permitted";
          case ENOENT -> "ENOENT, no such file";
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
    return name.isEmpty() ? "errno " + errno : "errno %d (%s)".formatted(errno, name);
  }
}
