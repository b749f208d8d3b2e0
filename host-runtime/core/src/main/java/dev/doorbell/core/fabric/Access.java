package dev.doorbell.core.fabric;

/**
 * Order and scope of a thread's access: one int, semantics and scope or-ed.
 *
 * <p>Semantics and scopes are those of the PTX memory model (PTX ISA, "Memory Consistency Model").
 */
public final class Access {
  /** Plain, unordered, may tear above 8 bytes. */
  public static final int WEAK = 0;

  /** Strong, unordered. */
  public static final int RELAXED = 1;

  /** Like relaxed at system scope; the number of accesses may change. */
  public static final int VOLATILE = 2;

  /** Orders later accesses of the thread after it. Loads, atomics, fences. */
  public static final int ACQUIRE = 3;

  /** Orders earlier accesses of the thread before it. Stores, atomics, fences. */
  public static final int RELEASE = 4;

  /** Both. Atomics and fences. */
  public static final int ACQ_REL = 5;

  /** Sequentially consistent. Fences. */
  public static final int SC = 6;

  /** Strong, never combined, elided or cached: device registers. */
  public static final int MMIO = 7;

  /** Through the read-only cache: outside the memory model. Loads. */
  public static final int NON_COHERENT = 8;

  /** Mask of the semantics above. */
  public static final int SEMANTICS = 0xf;

  /** Threads of the same CTA. */
  public static final int CTA = 0x10;

  /** Threads of the same cluster. */
  public static final int CLUSTER = 0x20;

  /** Threads of the same GPU. */
  public static final int GPU = 0x30;

  /** All threads, the host's too, and, in this project's reading, HCAs. */
  public static final int SYS = 0x40;

  /** Mask of the scopes above. */
  public static final int SCOPES = 0x70;

  /** Nobody gets the value that was there: {@code red}. Such an atomic acquires nothing. */
  public static final int REDUCTION = 0x80;

  private Access() {}

  /** The semantics part. */
  public static int semantics(int access) {
    return access & SEMANTICS;
  }

  /** The scope part. */
  public static int scope(int access) {
    return access & SCOPES;
  }

  /** The PTX spelling, for example {@code release.sys}. */
  public static String name(int access) {
    String semantics =
        switch (access & SEMANTICS) {
          case WEAK -> "weak";
          case RELAXED -> "relaxed";
          case VOLATILE -> "volatile";
          case ACQUIRE -> "acquire";
          case RELEASE -> "release";
          case ACQ_REL -> "acq_rel";
          case SC -> "sc";
          case MMIO -> "mmio";
          case NON_COHERENT -> "nc";
          default -> "?" + (access & SEMANTICS);
        };
    return switch (access & SCOPES) {
      case CTA -> semantics + ".cta";
      case CLUSTER -> semantics + ".cluster";
      case GPU -> semantics + ".gpu";
      case SYS -> semantics + ".sys";
      default -> semantics;
    };
  }
}
