package dev.doorbell.core.uverbs.generated;

import javax.annotation.processing.Generated;

/**
 * Numbers of system calls' arguments, as Linux has them on x86 and on ARM.
 *
 * <p>Written by FormatsTest from src/main/formats/uverbs.txt.
 */
@Generated("FormatsTest")
public class LinuxNumbers {
  public static final int EINTR = 4;

  public static final int EAGAIN = 11;

  public static final int ENAMETOOLONG = 36;

  public static final int READABLE = 1;

  public static final int WRITABLE = 4;

  public static final int EDGE = 1 << 31;

  public static final int WATCH = 1;

  public static final int UNWATCH = 2;

  public static final int REWATCH = 3;

  public static final int PR_SET_TIMERSLACK = 29;

  public static final int AF_UNIX = 1;

  public static final int SOCK_STREAM = 1;

  public static final int NONBLOCK_CLOEXEC = 0x800 | 0x80000;

  public static final int SOL_SOCKET = 1;

  public static final int SO_PEERCRED = 17;

  public static final int SCM_RIGHTS = 1;

  public static final int MSG_DONTWAIT = 0x40;

  public static final int MSG_NOSIGNAL = 0x4000;

  /** {@code O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC}. */
  public static final int OPEN_FLAGS = 2 | 0x100 | NONBLOCK_CLOEXEC;

  public static final int F_ADD_SEALS = 1033;

  public static final int F_GET_SEALS = 1034;

  public static final int SEAL_SHRINK = 1 << 1;

  public static final int SEAL_GROW = 1 << 2;

  public static final int MFD_CLOEXEC_ALLOW_SEALING = 1 | 2;

  public static final int AT_FDCWD = -100;

  public static final int PROT_READ_WRITE = 3;

  /** {@code MAP_SHARED | MAP_NORESERVE}. */
  public static final int MAP_SHARED = 1 | 0x4000;

  public static final int MAP_FIXED = 0x10;

  public static final int MAP_FIXED_NOREPLACE = 0x100000;

  protected LinuxNumbers() {}
}
