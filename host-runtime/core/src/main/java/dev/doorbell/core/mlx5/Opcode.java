package dev.doorbell.core.mlx5;

import dev.doorbell.core.mlx5.generated.OpcodeTable;

/** WQE opcodes. */
public final class Opcode extends OpcodeTable {
  private Opcode() {}
}
