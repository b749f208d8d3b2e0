package dev.doorbell.softhca;

import org.jspecify.annotations.Nullable;

/** What carries packets between HCAs. An HCA joins one; addresses name HCAs on it. */
public abstract class Wire {
  Wire() {}

  /** The way from {@code from} to the HCA called {@code to}, or null when nobody has that name. */
  abstract @Nullable Route route(SoftHca from, String to);

  /** The HCA is closed: packets to it are dropped from now on. */
  abstract void leave(SoftHca hca);

  /** Who is on it, for messages. */
  abstract String members();
}
