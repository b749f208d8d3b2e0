package dev.doorbell.proxy;

import dev.doorbell.core.memory.BigEndian;
import dev.doorbell.core.queue.CommandEntry;
import dev.doorbell.core.queue.ShortCommand;
import dev.doorbell.core.queue.WideCommand;

/**
 * Writes entries of command queues as kernels do, for index {@code index}, counted from the queue's
 * start and never wrapping, of a queue of {@code entries} entries.
 */
final class EntryWriter {
  private EntryWriter() {}

  /** The eight words of an entry that says everything. */
  static void full(CommandEntry command, long index, int entries, long[] words) {
    long phase = CommandEntry.phase(index, entries);
    long displaced =
        (command.remoteAddress & 1) << 1
            | (command.localAddress & 1) << 2
            | (command.operand & 1) << 3
            | (command.compare & 1) << 4;
    words[0] =
        (command.opcode & 0xffL) << 56
            | (command.queuePair & 0xffffL) << 40
            | (command.flags & 0xffL) << 32
            | (command.length & 0x7fff_ffffL) << 1
            | phase;
    words[1] = (command.remoteAddress & ~1L) | phase;
    words[2] = (command.localAddress & ~1L) | phase;
    words[3] = (command.operand & ~1L) | phase;
    words[4] = (command.compare & ~1L) | phase;
    words[5] =
        (long) BigEndian.swap(command.remoteKey) << 32
            | (command.fetched >>> 31 & 0x7ff_ffff) << 5
            | displaced
            | phase;
    words[6] =
        (long) BigEndian.swap(command.localKey) << 32
            | (command.fetched & 0x7fff_ffff) << 1
            | phase;
    words[7] =
        (long) command.immediate << 32
            | (index & 0x1ff_ffff) << 7
            | ((command.fetched >>> 58) << 1)
            | phase;
  }

  /** The two words of a short entry; the command's addresses are offsets below 2^32. */
  static void brief(CommandEntry command, long index, int entries, long[] words) {
    long phase = CommandEntry.phase(index, entries);
    words[0] =
        ((command.opcode & 0xffL) << 56)
            | ((command.queuePair & 0xffffL) << 40)
            | ((command.localAddress & 1) << 32)
            | ((command.length & 0x7fff_ffffL) << 1)
            | phase;
    words[1] =
        (command.remoteAddress << Integer.SIZE) | (command.localAddress & 0xffff_fffeL) | phase;
  }

  /** The sixteen words of a wide entry; the command's addresses are offsets. */
  static void wide(CommandEntry command, long index, int entries, long[] words) {
    long phase = CommandEntry.phase(index, entries);
    for (int word = 0; word < WideCommand.WORDS; word++) {
      words[word] = phase;
    }
    words[0] |=
        ((command.opcode & 0xffL) << 56)
            | ((command.queuePair & 0xffffL) << 40)
            | ((command.length & 0x7fff_ffffL) << 1);
    words[1] |= command.remoteAddress << 1;
    words[3] |= command.localAddress << 1;
    words[15] |= index << 1;
  }

  /** An entry of the format that has so many words. */
  static void write(CommandEntry command, long index, int entries, long[] words) {
    switch (words.length) {
      case ShortCommand.WORDS -> brief(command, index, entries, words);
      case WideCommand.WORDS -> wide(command, index, entries, words);
      default -> full(command, index, entries, words);
    }
  }

  /** Sets the rkey of the signal of {@link CommandEntry#OP_PUT_SIGNAL}. */
  static void signalKey(CommandEntry command, int key) {
    command.immediate = BigEndian.swap(key);
  }
}
