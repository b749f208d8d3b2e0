package dev.doorbell.core.mlx5;

import static org.assertj.core.api.Assertions.assertThat;

import dev.doorbell.core.NativeBytes;
import dev.doorbell.core.memory.RawMemory;
import dev.doorbell.core.mlx5.generated.DataSegment;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Geometry of rings; records and doorbells at the ends of their ranges. */
class QueuesTest {

  @ParameterizedTest
  @CsvSource({"0,0", "1,1", "4,1", "5,2", "7,2", "8,2", "9,3", "63,16"})
  void a_wqe_takes_a_block_for_every_four_units(int ds, int blocks) {
    assertThat(SendQueue.blocks(ds)).isEqualTo(blocks);
  }

  @ParameterizedTest
  @CsvSource({"-4,false", "0,false", "1,true", "3,false", "64,true", "32768,true", "65536,false"})
  void a_ring_is_a_power_of_two_up_to_half_the_index_range(int blocks, boolean legal) {
    assertThat(SendQueue.isLegalSize(blocks)).isEqualTo(legal);
  }

  @Test
  void units_of_a_wqe_go_on_at_the_start_of_the_ring() {
    long ring = 0x10_0000;
    assertThat(SendQueue.unitAddress(ring, 4, 3, 3)).isEqualTo(ring + 3 * 64 + 48);
    assertThat(SendQueue.unitAddress(ring, 4, 3, 4)).isEqualTo(ring);
    assertThat(SendQueue.unitAddress(ring, 1, 9, 5)).isEqualTo(ring + 16);
    assertThat(SendQueue.blockAddress(ring, 4, 0xffff)).isEqualTo(ring + 3 * 64);
  }

  @Test
  void slots_agree_with_the_remainder_for_any_index_that_64_bits_count() {
    long seed = 7;
    SplittableRandom random = new SplittableRandom(seed);
    for (int round = 0; round < 20_000; round++) {
      int blocks = 1 << random.nextInt(16);
      long index = random.nextLong() >>> random.nextInt(1, 64);
      int unit = random.nextInt(64);
      long ring = random.nextLong(1L << 46) & -4096;
      String context = "seed " + seed + " round " + round;
      assertThat(SendQueue.slot(index, blocks)).as(context).isEqualTo((int) (index % blocks));
      long expected = (index % blocks * 64 + unit * 16L) % (blocks * 64L);
      assertThat(SendQueue.unitAddress(ring, blocks, index, unit))
          .as(context)
          .isEqualTo(ring + expected);
      assertThat(SendQueue.extend(index, (int) (index + random.nextInt(-32_768, 32_768)) & 0xffff))
          .as(context)
          .isBetween(index - 32_768, index + 32_767);
    }
  }

  @ParameterizedTest
  @CsvSource({"0,0,0", "0,5,5", "65535,0,1", "65535,2,3", "5,4,65535", "70000,70001,1"})
  void distance_counts_modulo_two_to_the_sixteen(int from, int to, int distance) {
    assertThat(SendQueue.distance(from, to)).isEqualTo(distance);
  }

  @ParameterizedTest
  @CsvSource({
    "0,0,0",
    "65535,0,65536",
    "65536,65535,65535",
    "4294967295,1,4294967297",
    "100000,34464,100000",
    "100000,34465,100001"
  })
  void sixteen_bits_extend_to_the_nearest_full_index(long reference, int bits, long index) {
    assertThat(SendQueue.extend(reference, bits)).isEqualTo(index);
  }

  @Test
  void a_wqe_copied_in_and_out_is_the_same_wherever_it_starts() {
    SplittableRandom random = new SplittableRandom(11);
    int blocks = 8;
    try (NativeBytes ring = new NativeBytes(blocks * 64L);
        NativeBytes source = new NativeBytes(blocks * 64L)) {
      for (int index = 0; index < 2 * blocks; index++) {
        for (int ds = 1; ds <= 4 * blocks; ds++) {
          RawMemory.fill(ring.address(), ring.size(), (byte) 0);
          for (int i = 0; i < 16 * ds; i++) {
            RawMemory.putByte(source.address() + i, (byte) random.nextInt(1, 256));
          }
          SendQueue.copyIn(ring.address(), blocks, index, ds, source.address());
          for (int unit = 0; unit < ds; unit++) {
            assertThat(
                    NativeBytes.hex(SendQueue.unitAddress(ring.address(), blocks, index, unit), 16))
                .isEqualTo(NativeBytes.hex(source.address() + 16L * unit, 16));
          }
          assertThat(nonZeroBytes(ring)).isEqualTo(16 * ds);
        }
      }
    }
  }

  @ParameterizedTest
  @CsvSource({"1,28", "2,92", "3,156", "4,220"})
  void inline_payload_fills_its_blocks_to_the_last_byte(int blocks, int bytes) {
    assertThat(SendQueue.blocks(2 + InlineSegment.units(bytes))).isEqualTo(blocks);
    assertThat(SendQueue.blocks(2 + InlineSegment.units(bytes + 1))).isEqualTo(blocks + 1);
  }

  @Test
  void an_inline_segment_is_padded_with_zeroes() {
    try (NativeBytes segment = new NativeBytes(48);
        NativeBytes payload = NativeBytes.ofHex("0102030405060708090a0b0c0d")) {
      RawMemory.fill(segment.address(), segment.size(), (byte) 0xee);
      InlineSegment.write(segment.address(), payload.address(), 13);
      assertThat(segment.hex())
          .isEqualTo("8000000d0102030405060708090a0b0c0d" + "00".repeat(15) + "ee".repeat(16));
      assertThat(InlineSegment.bytes(0)).isEqualTo(16);
      assertThat(InlineSegment.units(12)).isEqualTo(1);
    }
  }

  @Test
  void a_doorbell_takes_sixteen_bits_of_the_index() {
    assertThat(Doorbell.index(Doorbell.encode(0x1_ffffL, 5))).isEqualTo(0xffff);
    try (NativeBytes unmasked = NativeBytes.ofHex("feedbe00 00123400")) {
      long value = Doorbell.read(unmasked.address());
      assertThat(Doorbell.index(value)).isEqualTo(0xedbe);
      assertThat(Doorbell.qpn(value)).isEqualTo(0x1234);
    }
  }

  @Test
  void the_largest_numbers_survive_a_doorbell() {
    long value = Doorbell.encode(0xffff, 0xff_ffff);
    assertThat(Doorbell.index(value)).isEqualTo(0xffff);
    assertThat(Doorbell.qpn(value)).isEqualTo(0xff_ffff);
  }

  @Test
  void a_queue_is_armed_with_sequence_command_and_consumer_index() {
    try (NativeBytes rung = new NativeBytes(Doorbell.BYTES)) {
      long value = Doorbell.encodeArm(6, true, 0x1ff_fffeL, 0x404);
      RawMemory.putLong(rung.address(), value);
      assertThat(rung.hex()).isEqualTo("21fffffe" + "00000404");
      assertThat(Doorbell.armSolicitedOnly(value)).isTrue();
      assertThat(Doorbell.armConsumerIndex(value)).isEqualTo(0xff_fffe);
      assertThat(Doorbell.armCqn(value)).isEqualTo(0x404);
      assertThat(Doorbell.armSolicitedOnly(Doorbell.encodeArm(0, false, 0, 1))).isFalse();
    }
  }

  @Test
  void the_words_of_a_record_do_not_touch_each_other() {
    try (NativeBytes record = new NativeBytes(DoorbellRecord.BYTES)) {
      DoorbellRecord.putSendIndex(record.address(), 0x12_3456L);
      DoorbellRecord.putReceiveIndex(record.address(), -1);
      assertThat(record.hex()).isEqualTo("0000ffff" + "00003456");
      DoorbellRecord.putConsumerIndex(record.address(), 0x1234_5678L);
      assertThat(record.hex()).isEqualTo("00345678" + "00003456");
      assertThat(DoorbellRecord.consumerIndex(record.address())).isEqualTo(0x34_5678);
      assertThat(DoorbellRecord.decode(DoorbellRecord.encode(0x1_0001))).isEqualTo(1);
    }
  }

  @Test
  void blueflame_halves_take_turns() {
    assertThat(BlueFlame.halfOffset(256, 0)).isEqualTo(0x800);
    assertThat(BlueFlame.halfOffset(256, 1)).isEqualTo(0x900);
    assertThat(BlueFlame.halfOffset(256, 2)).isEqualTo(0x800);
  }

  @Test
  void a_short_scatter_list_ends_with_the_invalid_key() {
    try (NativeBytes wqe = new NativeBytes(32)) {
      ReceiveSegment.write(wqe.address(), 64, 0x200, 0x1000);
      ReceiveSegment.write(wqe.address() + 16, 0, ReceiveSegment.INVALID_LKEY, 0);
      assertThat(wqe.hex())
          .isEqualTo("00000040000002000000000000001000" + "00000000000001000000000000000000");
      assertThat(ReceiveSegment.isTerminator(wqe.address())).isFalse();
      assertThat(ReceiveSegment.isTerminator(wqe.address() + 16)).isTrue();
      assertThat(ReceiveSegment.wqeAddress(0x1000, 4, 32, 6)).isEqualTo(0x1000 + 2 * 32);
    }
  }

  @Test
  void a_data_segment_keeps_the_inline_flag_out_of_its_count() {
    try (NativeBytes segment = new NativeBytes(16)) {
      DataSegment.write(segment.address(), -1, -1, -1);
      assertThat(segment.hex()).isEqualTo("7fffffff" + "ffffffff" + "ffffffffffffffff");
      assertThat(DataSegment.isInline(segment.address())).isFalse();
      InlineSegment.writeHeader(segment.address(), 12);
      assertThat(DataSegment.isInline(segment.address())).isTrue();
      assertThat(DataSegment.byteCount(segment.address())).isEqualTo(12);
    }
  }

  private static int nonZeroBytes(NativeBytes memory) {
    int count = 0;
    for (byte value : NativeBytes.bytes(memory.hex())) {
      count += value == 0 ? 0 : 1;
    }
    return count;
  }
}
