package dev.doorbell.proxy;

import dev.doorbell.core.queue.CommandEntry;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.SplittableRandom;

/** Operations between places of one region of 64 KiB, and what each does to a copy of it. */
final class RandomCommands {
  private static final ValueLayout.OfLong LITTLE_ENDIAN =
      ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  private static final int HALF = 1 << 15;
  private static final int QUARTER = HALF / 2;

  private RandomCommands() {}

  /**
   * The local side is the lower half of the region at {@code region}, the remote side the upper.
   */
  static CommandEntry next(SplittableRandom random, long region) {
    CommandEntry command = new CommandEntry();
    command.opcode = random.nextInt(8);
    if (command.opcode == 7) {
      command.opcode = random.nextBoolean() ? CommandEntry.OP_NOP : CommandEntry.OP_FLUSH;
    }
    command.length = random.nextInt(4) == 0 ? random.nextInt(5) : random.nextInt(3000);
    boolean fetches =
        command.opcode == CommandEntry.OP_GET
            || command.opcode == CommandEntry.OP_FETCH_ADD
            || command.opcode == CommandEntry.OP_COMPARE_SWAP;
    command.localAddress = region + (fetches ? QUARTER : 0) + random.nextInt(QUARTER - 4096);
    command.remoteAddress = region + HALF + random.nextInt(HALF - 4096);
    command.remoteKey = FakeHca.KEY;
    command.operand = random.nextLong();
    command.compare = random.nextLong();
    command.immediate = random.nextInt();
    command.flags = random.nextInt(2);
    switch (command.opcode) {
      case CommandEntry.OP_PUT_INLINE -> {
        byte[] payload = new byte[random.nextInt(CommandEntry.INLINE_BYTES + 1)];
        random.nextBytes(payload);
        command.inline(payload);
      }
      case CommandEntry.OP_FETCH_ADD, CommandEntry.OP_COMPARE_SWAP -> {
        command.remoteAddress &= -8;
        command.compare = random.nextInt(2);
      }
      case CommandEntry.OP_PUT_SIGNAL -> {
        command.compare = region + HALF + 8L * random.nextInt(64);
        command.fetched = region + QUARTER + 8L * random.nextInt(64);
        EntryWriter.signalKey(command, FakeHca.KEY);
      }
      default -> {
        // Nothing more to choose.
      }
    }
    return command;
  }

  /** Does to {@code bytes} what the command does to the region at {@code region}. */
  static void apply(CommandEntry command, long region, byte[] bytes) {
    MemorySegment memory = MemorySegment.ofArray(bytes);
    long remote = command.remoteAddress - region;
    long local = command.localAddress - region;
    switch (command.opcode) {
      case CommandEntry.OP_PUT, CommandEntry.OP_PUT_IMM ->
          MemorySegment.copy(memory, local, memory, remote, command.length);
      case CommandEntry.OP_GET -> MemorySegment.copy(memory, remote, memory, local, command.length);
      case CommandEntry.OP_PUT_INLINE -> {
        for (int i = 0; i < command.length; i++) {
          bytes[(int) remote + i] = command.inlineByte(i);
        }
      }
      case CommandEntry.OP_FETCH_ADD, CommandEntry.OP_COMPARE_SWAP -> {
        long old = memory.get(LITTLE_ENDIAN, remote);
        if (command.opcode == CommandEntry.OP_FETCH_ADD) {
          memory.set(LITTLE_ENDIAN, remote, old + command.operand);
        } else if (old == command.compare) {
          memory.set(LITTLE_ENDIAN, remote, command.operand);
        }
        memory.set(LITTLE_ENDIAN, local, old);
      }
      case CommandEntry.OP_PUT_SIGNAL -> {
        MemorySegment.copy(memory, local, memory, remote, command.length);
        long old = memory.get(LITTLE_ENDIAN, command.compare - region);
        memory.set(LITTLE_ENDIAN, command.compare - region, old + command.operand);
        memory.set(LITTLE_ENDIAN, command.fetched - region, old);
      }
      default -> {
        // Moves nothing.
      }
    }
  }
}
