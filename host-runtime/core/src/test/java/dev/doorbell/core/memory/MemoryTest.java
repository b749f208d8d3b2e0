package dev.doorbell.core.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.MemorySegment;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Values that describe memory, and what every {@link Memory} can do by copy alone. */
class MemoryTest {

  /** Memory that the CPU reaches by copies only, as a real GPU's. */
  private static final class CopiedMemory implements Memory {
    private final MemorySegment bytes = MemorySegment.ofArray(new byte[32]);

    @Override
    public MemoryKind kind() {
      return MemoryKind.DEVICE;
    }

    @Override
    public long address() {
      return 0x7000_0000_0000L;
    }

    @Override
    public long size() {
      return bytes.byteSize();
    }

    @Override
    public void write(long offset, MemorySegment source) {
      MemorySegment.copy(source, 0, bytes, offset, source.byteSize());
    }

    @Override
    public void read(long offset, MemorySegment target) {
      MemorySegment.copy(bytes, offset, target, 0, target.byteSize());
    }

    @Override
    public void fill(long offset, long length, byte value) {
      bytes.asSlice(offset, length).fill(value);
    }

    @Override
    public void close() {}
  }

  @Test
  void numbers_and_bytes_go_by_copy_little_endian() {
    try (Memory memory = new CopiedMemory()) {
      memory.putLong(3, 0x0102_0304_0506_0708L);
      assertThat(memory.getBytes(2, 10)).containsExactly(0, 8, 7, 6, 5, 4, 3, 2, 1, 0);
      assertThat(memory.getLong(3)).isEqualTo(0x0102_0304_0506_0708L);
      memory.putBytes(30, new byte[] {1, 2});
      assertThat(memory.getBytes(29, 3)).containsExactly(0, 1, 2);
      memory.fill(0, 32, (byte) 0xff);
      assertThat(memory.getLong(24)).isEqualTo(-1);
    }
  }

  @Test
  void places_are_named_by_rank_part_and_index() {
    assertThat(Locus.cpu(3)).hasToString("rank3.cpu0");
    assertThat(Locus.gpu(0, 1)).hasToString("rank0.gpu1");
    assertThat(Locus.nic(200, 7)).hasToString("rank200.nic7");
  }

  @ParameterizedTest
  @CsvSource({"-1,0", "0,-1", "0,256"})
  void a_place_outside_the_machine_is_refused(int rank, int index) {
    assertThatThrownBy(() -> Locus.gpu(rank, index))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("rank=" + rank + " index=" + index);
  }

  @ParameterizedTest
  @CsvSource({
    "4096, 0, true",
    "4096, 100, true",
    "4096, 101, false",
    "4195, 1, true",
    "4196, 0, true",
    "4196, 1, false",
    "4095, 1, false",
    "4096, -1, false",
    "4096, 9223372036854775807, false",
    "-9223372036854775808, 1, false",
    "9223372036854775807, 1, false"
  })
  void an_allocation_contains_what_lies_wholly_inside(long at, long bytes, boolean inside) {
    Allocation allocation =
        new Allocation(4096, 100, MemoryKind.HOST, Locus.cpu(0), "completion ring");
    assertThat(allocation.contains(at, bytes)).isEqualTo(inside);
  }

  @Test
  void an_allocation_describes_itself() {
    assertThat(new Allocation(0x1000, 64, MemoryKind.NIC, Locus.nic(1, 0), "staging"))
        .hasToString("'staging' (nic memory of rank1.nic0, 64 bytes at 0x1000)");
  }
}
