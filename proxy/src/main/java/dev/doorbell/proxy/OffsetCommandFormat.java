package dev.doorbell.proxy;

import dev.doorbell.core.queue.CommandEntry;
import dev.doorbell.core.queue.ShortCommand;
import dev.doorbell.core.queue.WideCommand;

/**
 * Entries whose offsets are those into one region here and one at the peer. Inline puts carry what
 * lies in host memory at the local offset.
 *
 * @param layout of an entry
 * @param local address of the region here
 * @param localKey its lkey
 * @param remote address of the region at the peer
 * @param remoteKey its rkey
 */
public record OffsetCommandFormat(
    Layout layout, long local, int localKey, long remote, int remoteKey) implements CommandFormat {
  /** What an entry looks like. */
  public enum Layout {
    /** {@link ShortCommand}. */
    SHORT,
    /** {@link WideCommand}. */
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
