package dev.doorbell.core.hca;

import dev.doorbell.core.hca.generated.ErrnoTable;

/** Error numbers of Linux (errno.h) that drivers and verbs answer with. */
public final class Errno extends ErrnoTable {
  private Errno() {}

  /** Returns the number, with its name where errors of this kind are common. */
  public static String describe(int errno) {
    String name = explained(errno);
    return name.isEmpty() ? "errno " + errno : "errno %d (%s)".formatted(errno, name);
  }
}
