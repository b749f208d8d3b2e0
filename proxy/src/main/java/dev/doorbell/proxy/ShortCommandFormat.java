package dev.doorbell.proxy;

import dev.doorbell.core.queue.CommandEntry;
import dev.doorbell.core.queue.ShortCommand;

/**
 * Entries of {@link ShortCommand}, whose offsets are those into one region here and one at the
 * peer. Inline puts carry what lies in host memory at the local offset.
 *
 * @param local address of the region here
 * @param localKey its lkey
 * @param remote address of the region at the peer
 * @param remoteKey its rkey
 */
public record ShortCommandFormat(long local, int localKey, long remote, int remoteKey)
    implements CommandFormat {
  @Override
  public int words() {
    return ShortCommand.WORDS;
  }

  @Override
  public boolean isFor(long[] words, long index) {
    return true;
  }

  @Override
  public void decode(long[] words, CommandEntry into) {
    ShortCommand.decode(words[0], words[1], into);
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
