package dev.doorbell.core.fabric.explore.litmus;

import java.util.Locale;

/** The way by which an access reaches memory (PTX ISA, "Proxies"). */
public enum Proxy {
  /** {@code ld}, {@code st}, {@code atom}, {@code red}. */
  GENERIC,
  /** {@code suld}, {@code sust}. */
  SURFACE,
  /** {@code tld}. */
  TEXTURE,
  /** {@code cold}. */
  CONSTANT;

  /** As it is written in files. */
  public String text() {
    return name().toLowerCase(Locale.ROOT);
  }
}
