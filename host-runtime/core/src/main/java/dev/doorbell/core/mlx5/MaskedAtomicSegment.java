package dev.doorbell.core.mlx5;

import dev.doorbell.core.mlx5.generated.MaskedAdd4;
import dev.doorbell.core.mlx5.generated.MaskedSwap8;

/**
 * The operands of the masked ("extended") atomics {@link Opcode#ATOMIC_MASKED_FA} and {@link
 * Opcode#ATOMIC_MASKED_CS}, in four shapes chosen by opcode and opmod: {@code MaskedAdd4}, {@code
 * MaskedAdd8}, {@code MaskedSwap4} and {@code MaskedSwap8}.
 */
public final class MaskedAtomicSegment {
  /** Control segment opmod of operations on 4 bytes. */
  public static final int OPMOD_4_BYTES = 0x08;

  /** Control segment opmod of operations on 8 bytes. */
  public static final int OPMOD_8_BYTES = 0x09;

  private MaskedAtomicSegment() {}

  /** Returns the width of the cell for an opmod: 4 or 8; 0 for any other opmod. */
  public static int cellBytes(int opmod) {
    return opmod == OPMOD_8_BYTES ? Long.BYTES : opmod == OPMOD_4_BYTES ? Integer.BYTES : 0;
  }

  /** Returns the bytes of the operands for an opcode and the width of its cell. */
  public static int bytes(int opcode, int cellBytes) {
    return opcode == Opcode.ATOMIC_MASKED_CS && cellBytes == Long.BYTES
        ? MaskedSwap8.BYTES
        : MaskedAdd4.BYTES;
  }
}
