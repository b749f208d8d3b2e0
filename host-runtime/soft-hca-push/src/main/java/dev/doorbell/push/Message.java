package dev.doorbell.push;

import dev.doorbell.core.fabric.Completion;
import dev.doorbell.core.memory.RawMemory;
import dev.doorbell.core.push.PushHeader;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.function.Consumer;

/**
 * A message from its header until its acknowledgement, and the buffer that its bytes are read to.
 */
final class Message implements Completion {
  /** Of control frames. */
  static final Message NONE = new Message();

  private final Consumer<Message> onRead;
  private final MemorySegment buffer;
  final long index;
  long local;
  long remote;
  int bytes;
  int destination;
  int checksum;
  boolean checked;
  boolean staged;
  int slot;
  int sequence;
  boolean known;
  boolean reading;
  boolean ready;
  boolean acknowledged;
  long sentAt;

  private Message() {
    this.onRead = message -> {};
    this.index = 0;
    this.buffer = MemorySegment.NULL;
  }

  /**
   * @param onRead called when a DMA read for the message has ended
   */
  Message(Consumer<Message> onRead, long index, int bufferBytes) {
    this.onRead = onRead;
    this.index = index;
    this.buffer =
        Arena.ofAuto().allocate(Math.max(PushHeader.BYTES, bufferBytes), PushHeader.BYTES);
  }

  /** Native address that header and then payload are read to. */
  long buffer() {
    return buffer.address();
  }

  /** Takes the fields of the header in the buffer. */
  void decode() {
    long header = buffer();
    local = HeaderReader.local(header);
    remote = HeaderReader.remote(header);
    bytes = HeaderReader.bytes(header);
    destination = HeaderReader.destination(header);
    checksum = HeaderReader.checksum(header);
    checked = HeaderReader.has(header, PushHeader.FLAG_CHECKED);
    staged = HeaderReader.has(header, PushHeader.FLAG_STAGED);
    slot = HeaderReader.slot(header);
    known = true;
  }

  /** A copy of the bytes in the buffer. */
  byte[] payload() {
    return buffer.asSlice(0, bytes).toArray(ValueLayout.JAVA_BYTE);
  }

  /** Whether the bytes in the buffer are those that the producer meant. */
  boolean intact() {
    return !checked || sum(buffer(), bytes) == checksum;
  }

  /** The sum of 32-bit words, modulo 2^32. */
  static int sum(long address, int bytes) {
    int sum = 0;
    for (int at = 0; at < bytes; at += Integer.BYTES) {
      sum += RawMemory.getInt(address + at);
    }
    return sum;
  }

  @Override
  public void completed(boolean ok) {
    onRead.accept(this);
  }
}
