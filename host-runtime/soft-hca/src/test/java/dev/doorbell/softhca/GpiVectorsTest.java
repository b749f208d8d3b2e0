package dev.doorbell.softhca;

import static org.assertj.core.api.Assertions.assertThat;

import dev.doorbell.contract.Descriptors;
import dev.doorbell.core.gpi.Descriptor;
import dev.doorbell.core.memory.RawMemory;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.HexFormat;
import org.junit.jupiter.api.Test;

/**
 * Descriptors against the bytes that the structures of NCCL 2.30.7's gin_gpi_device_host_common.h
 * give, which a C program filled by field names.
 */
class GpiVectorsTest {
  private static final String WRITE_SIGNAL_ADD =
      "01000206efbefecadf9b570f7856341201002143887766550100658744332211"
          + "4386ca0e5397db1fdf9b5713cf8a460201000000000000000100000000000000";
  private static final String ATOMIC_ADD =
      "0000070005000000060000000800000000002100000000000000000000000000"
          + "0020000000000000000000000000000000000000887766550000000044332211";

  @Test
  void a_write_with_a_signal_has_the_bytes_of_the_header() {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment memory = arena.allocate(Descriptor.BYTES, 64);
      long at = memory.address();
      Descriptors.writeTransfer(
          at,
          3,
          Descriptor.WRITE_SIGNAL_ADD,
          Descriptor.COUNTED | Descriptor.WRITEBACK,
          0x12345678,
          0x7abcdef,
          0x8765,
          0x123456789abcdefL,
          0x4321,
          0x0fedcba987654321L,
          0xbeef,
          0xcafe,
          0x1122334455667788L);
      assertThat(hex(memory)).isEqualTo(WRITE_SIGNAL_ADD);
      assertThat(Descriptor.isOwned(at, 1)).isTrue();
      assertThat(Descriptor.operation(at)).isEqualTo(Descriptor.WRITE_SIGNAL_ADD);
      assertThat(Descriptor.flags(at)).isEqualTo(Descriptor.COUNTED | Descriptor.WRITEBACK);
      assertThat(Descriptor.size(at)).isEqualTo(0x12345678);
      assertThat(Descriptor.peer(at)).isEqualTo(0x7abcdef);
      assertThat(Descriptor.sourceHandle(at)).isEqualTo(0x8765);
      assertThat(Descriptor.sourceOffset(at)).isEqualTo(0x123456789abcdefL);
      assertThat(Descriptor.targetHandle(at)).isEqualTo(0x4321);
      assertThat(Descriptor.targetOffset(at)).isEqualTo(0x0fedcba987654321L);
      assertThat(Descriptor.counter(at)).isEqualTo(0xbeef);
      assertThat(Descriptor.signal(at)).isEqualTo(0xcafe);
      assertThat(Descriptor.signalHigh(at)).isEqualTo(0x11223344);
      assertThat(Descriptor.signalLow(at)).isEqualTo(0x55667788);
    }
  }

  @Test
  void an_atomic_has_the_bytes_of_the_header() {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment memory = arena.allocate(Descriptor.BYTES, 64);
      long at = memory.address();
      Descriptors.writeInline(
          at, 2, Descriptor.ATOMIC_ADD, 0, 8, 3, 0x1122334455667788L, 0x21, 0x1000, 5, 0, 0);
      assertThat(hex(memory)).isEqualTo(ATOMIC_ADD);
      assertThat(Descriptor.inlineData(at)).isEqualTo(0x1122334455667788L);
      assertThat(Descriptor.isOwned(at, 0)).isTrue();
    }
  }

  @Test
  void a_descriptor_is_there_when_each_segment_has_the_owner_of_the_lap() {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment memory = arena.allocate(Descriptor.BYTES, 64);
      long at = memory.address();
      for (int i = 0; i < Descriptor.SEGMENTS; i++) {
        assertThat(Descriptor.isOwned(at, 1)).isFalse();
        RawMemory.putLong(at + 8L * i, 1);
      }
      assertThat(Descriptor.isOwned(at, 1)).isTrue();
    }
  }

  private static String hex(MemorySegment memory) {
    return HexFormat.of().formatHex(memory.toArray(ValueLayout.JAVA_BYTE));
  }
}
