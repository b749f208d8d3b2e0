package dev.doorbell.proxy;

import dev.doorbell.core.memory.RawMemory;
import dev.doorbell.core.mlx5.ControlSegment;
import dev.doorbell.core.mlx5.InlineSegment;
import dev.doorbell.core.mlx5.Opcode;
import dev.doorbell.core.mlx5.SendQueue;
import dev.doorbell.core.mlx5.generated.AtomicSegment;
import dev.doorbell.core.mlx5.generated.DataSegment;
import dev.doorbell.core.mlx5.generated.RemoteAddressSegment;
import dev.doorbell.core.queue.CommandEntry;

/**
 * A command as WQEs of one block each, byte for byte what the device library writes for the same
 * operation: a message without bytes has no data segment, since a byte count of 0 means 2^31; a put
 * or get without bytes is a NOP; only the last WQE asks for a CQE.
 */
final class WqeBuilder {
  private static final int REMOTE = ControlSegment.BYTES;
  private static final int OPERANDS = REMOTE + RemoteAddressSegment.BYTES;
  private static final int RESULT = OPERANDS + AtomicSegment.BYTES;

  private WqeBuilder() {}

  /** Number of WQEs that a command takes; 0 when it cannot be expressed. */
  static int wqes(CommandEntry command, boolean flushResults) {
    return switch (command.opcode) {
      case CommandEntry.OP_PUT, CommandEntry.OP_PUT_IMM, CommandEntry.OP_NOP -> 1;
      case CommandEntry.OP_PUT_INLINE -> command.length <= CommandEntry.INLINE_BYTES ? 1 : 0;
      case CommandEntry.OP_GET -> flushResults && command.length != 0 ? 2 : 1;
      case CommandEntry.OP_FETCH_ADD, CommandEntry.OP_COMPARE_SWAP -> flushResults ? 2 : 1;
      case CommandEntry.OP_PUT_SIGNAL -> 2;
      default -> 0;
    };
  }

  /**
   * Builds WQE {@code part} of a command.
   *
   * @param index of its block
   * @param signalled it asks for a CQE
   * @param to native address of 64 bytes, which are all written
   * @return its length in 16-byte units
   */
  static int build(
      CommandEntry command, int part, long index, int qpn, boolean signalled, long to) {
    RawMemory.fill(to, SendQueue.BLOCK, (byte) 0);
    int mode = signalled ? ControlSegment.CQ_UPDATE : ControlSegment.COMPLETE_ON_ERROR;
    if (part != 0) {
      return command.opcode == CommandEntry.OP_PUT_SIGNAL
          ? signal(command, index, qpn, mode, to)
          : dump(command, index, qpn, mode, to);
    }
    if ((command.flags & CommandEntry.FLAG_FENCE) != 0) {
      mode |= ControlSegment.FENCE_READS;
    }
    return switch (command.opcode) {
      case CommandEntry.OP_PUT, CommandEntry.OP_PUT_SIGNAL ->
          transfer(command, Opcode.RDMA_WRITE, index, qpn, mode, to);
      case CommandEntry.OP_PUT_IMM ->
          transfer(command, Opcode.RDMA_WRITE_IMM, index, qpn, mode, to);
      case CommandEntry.OP_GET -> transfer(command, Opcode.RDMA_READ, index, qpn, mode, to);
      case CommandEntry.OP_PUT_INLINE -> inline(command, index, qpn, mode, to);
      case CommandEntry.OP_FETCH_ADD -> atomic(command, Opcode.ATOMIC_FA, 0, index, qpn, mode, to);
      case CommandEntry.OP_COMPARE_SWAP ->
          atomic(command, Opcode.ATOMIC_CS, command.compare, index, qpn, mode, to);
      default -> nop(index, qpn, mode, to);
    };
  }

  private static int transfer(
      CommandEntry command, int opcode, long index, int qpn, int mode, long to) {
    boolean immediate = opcode == Opcode.RDMA_WRITE_IMM;
    if (command.length == 0 && !immediate) {
      return nop(index, qpn, mode, to);
    }
    int units = command.length == 0 ? 2 : 3;
    ControlSegment.write(
        to, 0, (int) index, opcode, qpn, units, mode, immediate ? command.immediate : 0);
    RemoteAddressSegment.write(to + REMOTE, command.remoteAddress, command.remoteKey);
    if (command.length != 0) {
      DataSegment.write(to + OPERANDS, command.length, command.localKey, command.localAddress);
    }
    return units;
  }

  private static int inline(CommandEntry command, long index, int qpn, int mode, long to) {
    if (command.length == 0) {
      return nop(index, qpn, mode, to);
    }
    int units = 2 + InlineSegment.units(command.length);
    ControlSegment.write(to, 0, (int) index, Opcode.RDMA_WRITE, qpn, units, mode, 0);
    RemoteAddressSegment.write(to + REMOTE, command.remoteAddress, command.remoteKey);
    InlineSegment.writeHeader(to + OPERANDS, command.length);
    long data = to + OPERANDS + InlineSegment.DATA_OFFSET;
    for (int i = 0; i < command.length; i++) {
      RawMemory.putByte(data + i, command.inlineByte(i));
    }
    return units;
  }

  private static int atomic(
      CommandEntry command, int opcode, long compare, long index, int qpn, int mode, long to) {
    ControlSegment.write(to, 0, (int) index, opcode, qpn, 4, mode, 0);
    RemoteAddressSegment.write(to + REMOTE, command.remoteAddress, command.remoteKey);
    AtomicSegment.write(to + OPERANDS, command.operand, compare);
    DataSegment.write(
        to + RESULT, AtomicSegment.CELL_BYTES, command.localKey, command.localAddress);
    return 4;
  }

  /** The fetch-add behind a put with signal. */
  private static int signal(CommandEntry command, long index, int qpn, int mode, long to) {
    ControlSegment.write(to, 0, (int) index, Opcode.ATOMIC_FA, qpn, 4, mode, 0);
    RemoteAddressSegment.write(to + REMOTE, command.compare, command.signalKey());
    AtomicSegment.write(to + OPERANDS, command.operand, 0);
    DataSegment.write(to + RESULT, AtomicSegment.CELL_BYTES, command.localKey, command.fetched);
    return 4;
  }

  /** Reads a byte of the result after it has been written, which pushes the result before it. */
  private static int dump(CommandEntry command, long index, int qpn, int mode, long to) {
    int fenced = mode | ControlSegment.FENCE_READS;
    ControlSegment.write(to, 0, (int) index, Opcode.DUMP, qpn, 2, fenced, 0);
    DataSegment.write(to + ControlSegment.BYTES, 1, command.localKey, command.localAddress);
    return 2;
  }

  private static int nop(long index, int qpn, int mode, long to) {
    ControlSegment.write(to, 0, (int) index, Opcode.NOP, qpn, 1, mode, 0);
    return 1;
  }
}
