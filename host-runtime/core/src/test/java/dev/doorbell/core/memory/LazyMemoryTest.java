package dev.doorbell.core.memory;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class LazyMemoryTest {
  @Test
  void parts_are_zeros_aligned_and_apart() {
    for (LazyMemory memory : List.of(LazyMemory.SPARSE, LazyMemory.DENSE)) {
      List<MemorySegment> parts = new ArrayList<>();
      for (int i = 0; i < 600; i++) {
        MemorySegment part = memory.allocate(16_384 + 8, 64);
        assertThat(part.address() % 64).isZero();
        assertThat(part.byteSize()).isEqualTo(16_392);
        assertThat(part.get(ValueLayout.JAVA_LONG, 0)).isZero();
        assertThat(part.get(ValueLayout.JAVA_LONG, 16_384)).isZero();
        part.set(ValueLayout.JAVA_LONG, 0, i + 1);
        part.set(ValueLayout.JAVA_LONG, 16_384, i + 1);
        parts.add(part);
      }
      for (int i = 0; i < parts.size(); i++) {
        assertThat(parts.get(i).get(ValueLayout.JAVA_LONG, 0)).isEqualTo(i + 1);
        assertThat(parts.get(i).get(ValueLayout.JAVA_LONG, 16_384)).isEqualTo(i + 1);
      }
    }
  }

  @Test
  void more_than_a_piece_is_one_part() {
    long bytes = (9L << 20) + 5;
    MemorySegment part = LazyMemory.SPARSE.allocate(bytes, 64);
    assertThat(part.byteSize()).isEqualTo(bytes);
    part.set(ValueLayout.JAVA_BYTE, bytes - 1, (byte) 7);
    assertThat(part.get(ValueLayout.JAVA_BYTE, bytes - 1)).isEqualTo((byte) 7);
  }
}
