package dev.doorbell.core.fabric.explore.model;

import dev.doorbell.core.fabric.Access;

/** What {@link Access} bits mean to the memory model. */
final class Semantics {
  private Semantics() {}

  /** {@code access} with the scope that PTX gives where none is written. */
  static int strong(int access) {
    int semantics = Access.semantics(access);
    boolean system = semantics == Access.VOLATILE || semantics == Access.MMIO;
    return system ? semantics | Access.SYS : access;
  }

  static boolean isStrong(int access) {
    int semantics = Access.semantics(access);
    return semantics != Access.WEAK && semantics != Access.NON_COHERENT;
  }

  static boolean acquires(int access) {
    int semantics = Access.semantics(access);
    return semantics == Access.ACQUIRE || semantics == Access.ACQ_REL || semantics == Access.SC;
  }

  static boolean releases(int access) {
    int semantics = Access.semantics(access);
    return semantics == Access.RELEASE || semantics == Access.ACQ_REL || semantics == Access.SC;
  }
}
