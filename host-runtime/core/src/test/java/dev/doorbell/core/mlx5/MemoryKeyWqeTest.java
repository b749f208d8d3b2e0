package dev.doorbell.core.mlx5;

import static org.assertj.core.api.Assertions.assertThat;

import dev.doorbell.core.NativeBytes;
import dev.doorbell.core.mlx5.generated.MemoryKeySegment;
import dev.doorbell.core.mlx5.generated.UmrControlSegment;
import org.junit.jupiter.api.Test;

/** Bytes as {@code set_bind_wr} of rdma-core providers/mlx5/qp.c writes them for a window. */
class MemoryKeyWqeTest {
  @Test
  void a_bind_of_a_window_is_read() {
    String control = "b0000000 00040000 00000000 207c6041" + " 00000000".repeat(8);
    String key = "00006800 00012307 00000000 00000000 00007f00 11223344 00000000 00000080";
    try (NativeBytes first = NativeBytes.ofHex(control);
        NativeBytes second = NativeBytes.ofHex(key + " 00000000".repeat(8))) {
      assertThat(UmrControlSegment.flags(first.address()))
          .isEqualTo(UmrControlSegment.INLINE | UmrControlSegment.CHECK_FREE | 1 << 4);
      long at = second.address();
      assertThat(MemoryKeySegment.isFree(at)).isFalse();
      assertThat(MemoryKeySegment.access(at))
          .isEqualTo(1 << 3 | MemoryKeySegment.REMOTE_WRITE | MemoryKeySegment.ATOMIC);
      assertThat(MemoryKeySegment.queuePair(at)).isEqualTo(0x123);
      assertThat(MemoryKeySegment.variant(at)).isEqualTo(7);
      assertThat(MemoryKeySegment.startAddress(at)).isEqualTo(0x7f00_1122_3344L);
      assertThat(MemoryKeySegment.length(at)).isEqualTo(0x80);
    }
  }

  @Test
  void a_key_that_ends_is_free() {
    try (NativeBytes key = NativeBytes.ofHex("40000000 ffffff05" + " 00000000".repeat(14))) {
      assertThat(MemoryKeySegment.isFree(key.address())).isTrue();
      assertThat(MemoryKeySegment.access(key.address())).isZero();
      assertThat(MemoryKeySegment.queuePair(key.address()))
          .isEqualTo(MemoryKeySegment.ANY_QUEUE_PAIR);
      assertThat(MemoryKeySegment.variant(key.address())).isEqualTo(5);
    }
  }
}
