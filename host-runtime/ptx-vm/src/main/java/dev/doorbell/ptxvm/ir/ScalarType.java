package dev.doorbell.ptxvm.ir;

import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** A fundamental type of PTX (PTX ISA, "Fundamental Types", "Packed Data Types"). */
public enum ScalarType {
  PRED(1, Family.PREDICATE),
  B8(8, Family.BITS),
  B16(16, Family.BITS),
  B32(32, Family.BITS),
  B64(64, Family.BITS),
  U8(8, Family.UNSIGNED),
  U16(16, Family.UNSIGNED),
  U32(32, Family.UNSIGNED),
  U64(64, Family.UNSIGNED),
  S8(8, Family.SIGNED),
  S16(16, Family.SIGNED),
  S32(32, Family.SIGNED),
  S64(64, Family.SIGNED),
  F16(16, Family.FLOAT),
  BF16(16, Family.FLOAT),
  F16X2(32, Family.PACKED),
  BF16X2(32, Family.PACKED),
  F32X2(64, Family.PACKED),
  U16X2(32, Family.UNSIGNED),
  S16X2(32, Family.SIGNED),
  F32(32, Family.FLOAT),
  F64(64, Family.FLOAT);

  /** Meaning of the bits. */
  public enum Family {
    PREDICATE,
    BITS,
    UNSIGNED,
    SIGNED,
    FLOAT,
    PACKED
  }

  private static final Map<String, ScalarType> BY_NAME = new HashMap<>();

  static {
    for (ScalarType type : values()) {
      BY_NAME.put(type.ptx(), type);
    }
  }

  private final int bits;
  private final Family family;

  ScalarType(int bits, Family family) {
    this.bits = bits;
    this.family = family;
  }

  /** The type that PTX spells {@code name}, without the dot, or null. */
  public static @Nullable ScalarType of(String name) {
    return BY_NAME.get(name);
  }

  /** The PTX spelling without the dot. */
  public String ptx() {
    return name().toLowerCase(Locale.ROOT);
  }

  public int bits() {
    return bits;
  }

  /** Bytes in memory. */
  public int bytes() {
    return Math.max(1, bits / 8);
  }

  public Family family() {
    return family;
  }

  public boolean signed() {
    return family == Family.SIGNED;
  }

  /** The low {@link #bits} set. */
  public long mask() {
    return bits == 64 ? -1L : (1L << bits) - 1;
  }
}
