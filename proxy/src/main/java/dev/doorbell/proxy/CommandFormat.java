package dev.doorbell.proxy;

import dev.doorbell.core.queue.CommandEntry;
import dev.doorbell.core.queue.ShortCommand;
import dev.doorbell.core.queue.WideCommand;

/**
 * Layout of the entries of a command queue, as its consumer reads them.
 *
 * <p>Every format keeps one rule: bit 0 of each 64-bit word of an entry is the phase of {@link
 * CommandEntry}, so that an entry is there when all of its words are, in whatever order they
 * arrived.
 */
public interface CommandFormat {
  /** Bytes of a cache line of the CPU. */
  int LINE_BYTES = 64;

  /** Entries of {@link CommandEntry}, which say everything about a command. */
  CommandFormat FULL =
      new CommandFormat() {
        @Override
        public int words() {
          return CommandEntry.WORDS;
        }

        @Override
        public boolean isFor(long[] words, long index) {
          return CommandEntry.isFor(words[CommandEntry.WORDS - 1], index);
        }

        @Override
        public void decode(long[] words, CommandEntry into) {
          into.decode(words);
        }
      };

  /** 64-bit words of an entry, a power of two from 2. */
  int words();

  /** Cache lines that the CPU reads for an entry, and may share with the entries beside it. */
  default int lines() {
    return Math.max(1, words() * Long.BYTES / LINE_BYTES);
  }

  /** Returns false if an entry says that it was written for another index than {@code index}. */
  boolean isFor(long[] words, long index);

  /** Reads the words of an entry that is present. */
  void decode(long[] words, CommandEntry into);

  /**
   * Returns where the payload of an inline put lies that the CPU copies from host memory into the
   * WQE, aligned to 8 bytes; 0 if the command has it, or is none.
   */
  default long payload(CommandEntry command) {
    return 0;
  }

  /**
   * Entries whose offsets are those into one region here and one at the peer. Inline puts carry
   * what lies in host memory at the local offset.
   */
  record OffsetCommandFormat(Layout layout, long local, int localKey, long remote, int remoteKey)
      implements CommandFormat {
    /** Layouts of an entry. */
    public enum Layout {
      SHORT,
      WIDE
    }

    @Override
    public int words() {
      return layout == Layout.SHORT ? ShortCommand.WORDS : WideCommand.WORDS;
    }

    @Override
    public boolean isFor(long[] words, long index) {
      return layout == Layout.SHORT || WideCommand.isFor(words, index);
    }

    @Override
    public void decode(long[] words, CommandEntry into) {
      if (layout == Layout.SHORT) {
        ShortCommand.decode(words[0], words[1], into);
      } else {
        WideCommand.decode(words, into);
      }
      into.localAddress += local;
      into.localKey = localKey;
      into.remoteAddress += remote;
      into.remoteKey = remoteKey;
    }

    @Override
    public long payload(CommandEntry command) {
      return command.opcode == CommandEntry.OP_PUT_INLINE ? command.localAddress : 0;
    }
  }
}
