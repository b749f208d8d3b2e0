package dev.doorbell.core.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.doorbell.core.NativeBytes;
import java.lang.foreign.MemorySegment;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class RawMemoryTest {
  private final NativeBytes memory = new NativeBytes(64);
  private final long at = memory.address();

  @AfterEach
  void close() {
    memory.close();
  }

  @Test
  void plain_values_are_little_endian_at_any_alignment() {
    RawMemory.putByte(at, (byte) 0x80);
    RawMemory.putShort(at + 1, (short) 0x0102);
    RawMemory.putInt(at + 3, 0x0304_0506);
    RawMemory.putLong(at + 7, 0x0708_090a_0b0c_0d0eL);
    assertThat(NativeBytes.hex(at, 15)).isEqualTo("80" + "0201" + "06050403" + "0e0d0c0b0a090807");
    assertThat(RawMemory.getByte(at)).isEqualTo((byte) 0x80);
    assertThat(RawMemory.getShort(at + 1)).isEqualTo((short) 0x0102);
    assertThat(RawMemory.getInt(at + 3)).isEqualTo(0x0304_0506);
    assertThat(RawMemory.getLong(at + 7)).isEqualTo(0x0708_090a_0b0c_0d0eL);
  }

  @Test
  void opaque_values_are_little_endian() {
    RawMemory.putByteOpaque(at, (byte) 0x81);
    RawMemory.putShortOpaque(at + 2, (short) 0x8283);
    RawMemory.putIntOpaque(at + 4, 0x8485_8687);
    RawMemory.putLongOpaque(at + 8, 0x8889_8a8b_8c8d_8e8fL);
    assertThat(NativeBytes.hex(at, 16)).isEqualTo("8100838287868584" + "8f8e8d8c8b8a8988");
    assertThat(RawMemory.getByteOpaque(at)).isEqualTo((byte) 0x81);
    assertThat(RawMemory.getShortOpaque(at + 2)).isEqualTo((short) 0x8283);
    assertThat(RawMemory.getIntOpaque(at + 4)).isEqualTo(0x8485_8687);
    assertThat(RawMemory.getLongOpaque(at + 8)).isEqualTo(0x8889_8a8b_8c8d_8e8fL);
  }

  @Test
  void released_values_are_little_endian_and_acquired_as_such() {
    RawMemory.putByteRelease(at, (byte) 0x91);
    RawMemory.putShortRelease(at + 2, (short) 0x9293);
    RawMemory.putIntRelease(at + 4, 0x9495_9697);
    RawMemory.putLongRelease(at + 8, 0x9899_9a9b_9c9d_9e9fL);
    assertThat(NativeBytes.hex(at, 16)).isEqualTo("9100939297969594" + "9f9e9d9c9b9a9998");
    assertThat(RawMemory.getByteAcquire(at)).isEqualTo((byte) 0x91);
    assertThat(RawMemory.getShortAcquire(at + 2)).isEqualTo((short) 0x9293);
    assertThat(RawMemory.getIntAcquire(at + 4)).isEqualTo(0x9495_9697);
    assertThat(RawMemory.getLongAcquire(at + 8)).isEqualTo(0x9899_9a9b_9c9d_9e9fL);
  }

  @Test
  void ordered_access_wants_natural_alignment() {
    assertThatThrownBy(() -> RawMemory.getIntAcquire(at + 2))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> RawMemory.putLongRelease(at + 4, 1))
        .isInstanceOf(IllegalArgumentException.class);
    assertThat(memory.hex()).matches("0+");
  }

  @Test
  void read_modify_write_returns_the_old_value() {
    RawMemory.putInt(at, -1);
    assertThat(RawMemory.compareAndExchangeInt(at, -1, 7)).isEqualTo(-1);
    assertThat(RawMemory.compareAndExchangeInt(at, -1, 9)).isEqualTo(7);
    assertThat(RawMemory.getInt(at)).isEqualTo(7);
    RawMemory.putLong(at + 8, Long.MAX_VALUE);
    assertThat(RawMemory.getAndAddLong(at + 8, 1)).isEqualTo(Long.MAX_VALUE);
    assertThat(RawMemory.compareAndExchangeLong(at + 8, Long.MIN_VALUE, 3))
        .isEqualTo(Long.MIN_VALUE);
    assertThat(RawMemory.compareAndExchangeLong(at + 8, 0, 4)).isEqualTo(3);
    assertThat(RawMemory.getLong(at + 8)).isEqualTo(3);
  }

  @Test
  void copies_may_overlap_and_cross_to_the_heap() {
    byte[] heap = {1, 2, 3, 4, 5, 6, 7, 8};
    RawMemory.copyIn(MemorySegment.ofArray(heap), 2, at + 1, 6);
    assertThat(NativeBytes.hex(at, 8)).isEqualTo("0003040506070800");
    RawMemory.copy(at + 1, at + 3, 6);
    assertThat(NativeBytes.hex(at, 10)).isEqualTo("00030403040506070800");
    byte[] back = new byte[4];
    RawMemory.copyOut(at + 3, MemorySegment.ofArray(back), 1, 3);
    assertThat(back).containsExactly(0, 3, 4, 5);
  }

  @Test
  void filling_and_comparing_touch_exactly_the_range() {
    RawMemory.fill(at + 3, 5, (byte) 0xee);
    assertThat(NativeBytes.hex(at, 10)).isEqualTo("000000eeeeeeeeee0000");
    assertThat(RawMemory.mismatch(at, at + 32, 32)).isEqualTo(3);
    assertThat(RawMemory.mismatch(at + 8, at + 40, 24)).isEqualTo(-1);
  }

  @Test
  void big_endian_values_are_reversed() {
    BigEndian.putShort(at, (short) 0x0102);
    BigEndian.putInt(at + 2, 0x0304_0506);
    BigEndian.putLong(at + 6, 0x0708_090a_0b0c_0d0eL);
    assertThat(NativeBytes.hex(at, 14)).isEqualTo("0102030405060708090a0b0c0d0e");
    assertThat(BigEndian.getShort(at)).isEqualTo((short) 0x0102);
    assertThat(BigEndian.getInt(at + 2)).isEqualTo(0x0304_0506);
    assertThat(BigEndian.getLong(at + 6)).isEqualTo(0x0708_090a_0b0c_0d0eL);
    assertThat(BigEndian.swap((short) 0x1234)).isEqualTo((short) 0x3412);
  }
}
