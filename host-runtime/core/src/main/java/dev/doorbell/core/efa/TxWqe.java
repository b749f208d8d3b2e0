package dev.doorbell.core.efa;

import dev.doorbell.core.efa.generated.TxBuffer;
import dev.doorbell.core.efa.generated.TxFields;
import dev.doorbell.core.memory.RawMemory;

/** A work request of a send queue of the Elastic Fabric Adapter. */
public final class TxWqe extends TxFields {
  private static final int HAS_IMMEDIATE = 1 << 4;

  private TxWqe() {}

  /** Returns true if the bits are set that every WQE has. */
  public static boolean isWhole(long address) {
    return hasMeta(address) && isFirst(address) && isLast(address);
  }

  public static long buffer(long address, int number) {
    return inlineData(address) + (long) number * TxBuffer.BYTES;
  }

  public static long inlineData(long address) {
    return address + (operation(address) == SEND ? DATA_OFFSET : LOCAL_OFFSET);
  }

  /** Adds immediate data. */
  public static void putImmediate(long address, int immediate) {
    RawMemory.putInt(address + IMMEDIATE_OFFSET, immediate);
    RawMemory.putByte(
        address + CTRL1_OFFSET, (byte) (RawMemory.getByte(address + CTRL1_OFFSET) | HAS_IMMEDIATE));
  }

  public static void putBuffer(long address, int number, int length, int key, long local) {
    TxBuffer.writeLocal(buffer(address, number), length, key, local);
  }
}
