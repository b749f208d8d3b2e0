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
  /** Stands for the message of control frames. */
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
    known = true;
  }

  /** A copy of the bytes in the buffer. */
  byte[] payload() {
    return buffer.asSlice(0, bytes).toArray(ValueLayout.JAVA_BYTE);
  }

  /** Returns true if the bytes in the buffer are those that the producer meant. */
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

  /**
   * Reads the header of a message at a native address; see {@link PushHeader} for where what lies.
   */
  static final class HeaderReader {
    private HeaderReader() {}

    static long index(long header) {
      return RawMemory.getLong(header + PushHeader.INDEX);
    }

    static long local(long header) {
      return RawMemory.getLong(header + PushHeader.LOCAL);
    }

    static long remote(long header) {
      return RawMemory.getLong(header + PushHeader.REMOTE);
    }

    static int bytes(long header) {
      return RawMemory.getInt(header + PushHeader.LENGTH);
    }

    static int destination(long header) {
      return RawMemory.getInt(header + PushHeader.DESTINATION);
    }

    static int checksum(long header) {
      return RawMemory.getInt(header + PushHeader.CHECKSUM);
    }

    static boolean has(long header, int flag) {
      return (RawMemory.getInt(header + PushHeader.FLAGS) & flag) != 0;
    }

    /**
     * True when the header at {@code header} is that of message {@code index}, whole: its words may
     * come one by one where nothing orders them before the doorbell.
     */
    static boolean isOf(long header, long index, int entries) {
      return index(header) == index
          && RawMemory.getInt(header + PushHeader.PHASE) == PushHeader.phase(index, entries)
          && RawMemory.getInt(header + PushHeader.SEAL) == seal(header);
    }

    private static int seal(long header) {
      int sum = 1;
      for (int at = 0; at < PushHeader.SEAL; at += Integer.BYTES) {
        sum += RawMemory.getInt(header + at);
      }
      return sum;
    }
  }
}
