package dev.doorbell.core.push;

import dev.doorbell.core.push.generated.PushFields;

/** The header of a pushed message. Little-endian. */
public final class PushHeader extends PushFields {
  private PushHeader() {}

  /** The phase of a message: never that of the one before it in its place, nor of zeroed memory. */
  public static int phase(long index, int entries) {
    return (int) (index / entries + 1) & 1;
  }
}
