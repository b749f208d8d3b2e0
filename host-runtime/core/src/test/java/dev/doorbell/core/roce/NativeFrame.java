package dev.doorbell.core.roce;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** Bytes at a native address that stays valid: tests keep addresses, which no collector sees. */
record NativeFrame(MemorySegment memory, int bytes) {
  static NativeFrame of(byte[] bytes) {
    MemorySegment memory = Arena.global().allocate(Math.max(1, bytes.length), 8);
    MemorySegment.copy(MemorySegment.ofArray(bytes), 0, memory, 0, bytes.length);
    return new NativeFrame(memory, bytes.length);
  }

  static NativeFrame empty(int bytes) {
    return of(new byte[bytes]);
  }

  long address() {
    return memory.address();
  }

  byte[] toArray() {
    byte[] copy = new byte[bytes];
    MemorySegment.copy(memory, 0, MemorySegment.ofArray(copy), 0, bytes);
    return copy;
  }
}
