package dev.doorbell.core;

import dev.doorbell.core.memory.RawMemory;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.HexFormat;

/** Native memory of a test, zeroed, aligned to 64, and hex on both sides of it. */
public final class NativeBytes implements AutoCloseable {
  private final Arena arena = Arena.ofConfined();
  private final MemorySegment segment;

  public NativeBytes(long bytes) {
    segment = arena.allocate(bytes, 64);
  }

  public static NativeBytes ofHex(String hex) {
    byte[] bytes = bytes(hex);
    NativeBytes memory = new NativeBytes(bytes.length);
    RawMemory.copyIn(MemorySegment.ofArray(bytes), 0, memory.address(), bytes.length);
    return memory;
  }

  /** The bytes of hex digits between which there may be white space. */
  public static byte[] bytes(String hex) {
    return HexFormat.of().parseHex(hex.replaceAll("\\s", ""));
  }

  public static String hex(long address, int bytes) {
    byte[] copy = new byte[bytes];
    RawMemory.copyOut(address, MemorySegment.ofArray(copy), 0, bytes);
    return HexFormat.of().formatHex(copy);
  }

  public long address() {
    return segment.address();
  }

  public long size() {
    return segment.byteSize();
  }

  public String hex() {
    return hex(address(), (int) size());
  }

  @Override
  public void close() {
    arena.close();
  }
}
