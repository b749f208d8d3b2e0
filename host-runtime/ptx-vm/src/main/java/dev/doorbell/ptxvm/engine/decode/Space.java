package dev.doorbell.ptxvm.engine.decode;

import dev.doorbell.ptxvm.engine.decode.Assembler.Unsupported;
import dev.doorbell.ptxvm.ir.Instruction;

/** Destination of an access. */
public enum Space {
  /** Any address; its range selects the block's own windows. */
  GENERIC,
  /** Through the port. */
  GLOBAL,
  /** Offsets in the block's shared memory. */
  SHARED,
  /** Offsets in the thread's local memory. */
  LOCAL,
  /** Offsets in the running function's frame, which lies in local memory. */
  FRAME,
  /** Offsets in the kernel's parameter block. */
  PARAMETER;

  public boolean isWindow() {
    return this != GENERIC && this != GLOBAL;
  }

  /** The space that the modifiers name; a parameter's variable selects its kind. */
  public static Space of(Instruction i) throws Unsupported {
    for (String modifier : i.modifiers()) {
      switch (modifier) {
        // Constants never change while a kernel runs: like global memory, by their address.
        case "global", "const" -> {
          return GLOBAL;
        }
        // Without clusters a block is a cluster of its own.
        case "shared", "shared::cta", "shared::cluster" -> {
          return SHARED;
        }
        case "local" -> {
          return LOCAL;
        }
        case "param", "param::entry", "param::func" -> {
          return PARAMETER;
        }
        default -> {}
      }
    }
    return GENERIC;
  }
}
