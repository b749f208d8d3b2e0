package dev.doorbell.proxy;

import static org.assertj.core.api.Assertions.assertThat;

import dev.doorbell.core.memory.RawMemory;
import dev.doorbell.core.mlx5.ControlSegment;
import dev.doorbell.core.queue.CommandEntry;
import java.lang.foreign.Arena;
import org.junit.jupiter.api.Test;

/** Images worked out from the segment layouts of rdma-core, providers/mlx5/mlx5dv.h. */
class WqeBuilderTest {
  private final long wqe = Arena.global().allocate(64, 64).address();
  private final CommandEntry command = new CommandEntry();

  WqeBuilderTest() {
    command.remoteAddress = 0x1122334455667788L;
    command.localAddress = 0x99aabbccddeeff00L;
    command.remoteKey = 0x12345678;
    command.localKey = 0x0a0b0c0d;
    command.length = 0x1000;
  }

  private String build(int opcode, int part, long index) {
    command.opcode = opcode;
    RawMemory.fill(wqe, 64, (byte) 0x5a);
    int units = WqeBuilder.build(command, part, index, 0x123, true, wqe);
    byte[] image = new byte[units * 16];
    for (int i = 0; i < image.length; i++) {
      image[i] = RawMemory.getByte(wqe + i);
    }
    for (int i = image.length; i < 64; i++) {
      assertThat(RawMemory.getByte(wqe + i)).describedAs("byte %d behind the WQE", i).isZero();
    }
    return FakeHca.hex(image);
  }

  @Test
  void a_put_is_an_rdma_write() {
    assertThat(build(CommandEntry.OP_PUT, 0, 0))
        .isEqualTo(
            "00000008 00012303 00000008 00000000 11223344 55667788 12345678 00000000 00001000 0a0b0c0d 99aabbcc ddeeff00");
  }

  @Test
  void the_index_is_cut_to_16_bits() {
    assertThat(build(CommandEntry.OP_PUT, 0, 0x1_2345_6789L)).startsWith("00678908 00012303 ");
  }

  @Test
  void a_put_with_immediate_carries_it_in_the_control_segment() {
    command.immediate = 0xcafe0001;
    assertThat(build(CommandEntry.OP_PUT_IMM, 0, 0))
        .startsWith("00000009 00012303 00000008 cafe0001 11223344 ");
  }

  @Test
  void a_get_is_an_rdma_read_and_a_dump_behind_it() {
    assertThat(build(CommandEntry.OP_GET, 0, 0)).startsWith("00000010 00012303 00000008 00000000 ");
    assertThat(build(CommandEntry.OP_GET, 1, 1))
        .isEqualTo("00000123 00012302 00000048 00000000 00000001 0a0b0c0d 99aabbcc ddeeff00");
    assertThat(WqeBuilder.wqes(command, true)).isEqualTo(2);
    assertThat(WqeBuilder.wqes(command, false)).isEqualTo(1);
  }

  @Test
  void an_inline_put_carries_its_payload() {
    command.inline(new byte[] {1, 2, 3, 4, 5, 6, 7, 8});
    assertThat(build(CommandEntry.OP_PUT_INLINE, 0, 0))
        .isEqualTo(
            "00000008 00012303 00000008 00000000 11223344 55667788 12345678 00000000 80000008 01020304 05060708 00000000");
    byte[] longest = new byte[CommandEntry.INLINE_BYTES];
    longest[23] = 0x18;
    command.inline(longest);
    assertThat(build(CommandEntry.OP_PUT_INLINE, 0, 0))
        .startsWith("00000008 00012304 ")
        .endsWith("80000018 00000000 00000000 00000000 00000000 00000000 00000018 00000000");
    command.length = 25;
    assertThat(WqeBuilder.wqes(command, false)).isZero();
  }

  @Test
  void atomics_have_operands_and_a_place_for_the_old_value() {
    command.operand = 0x0102030405060708L;
    command.compare = 0x1112131415161718L;
    assertThat(build(CommandEntry.OP_FETCH_ADD, 0, 0))
        .isEqualTo(
            "00000012 00012304 00000008 00000000 11223344 55667788 12345678 00000000 01020304 05060708 00000000 00000000 00000008 0a0b0c0d 99aabbcc ddeeff00");
    assertThat(build(CommandEntry.OP_COMPARE_SWAP, 0, 0))
        .isEqualTo(
            "00000011 00012304 00000008 00000000 11223344 55667788 12345678 00000000 01020304 05060708 11121314 15161718 00000008 0a0b0c0d 99aabbcc ddeeff00");
  }

  @Test
  void a_put_with_signal_is_a_write_and_a_fetch_add() {
    command.operand = 5;
    command.compare = 0x00000000deadbee0L;
    command.fetched = 0x00000000f00df00dL;
    EntryWriter.signalKey(command, 0x77777701);
    assertThat(build(CommandEntry.OP_PUT_SIGNAL, 0, 0)).startsWith("00000008 00012303 ");
    assertThat(build(CommandEntry.OP_PUT_SIGNAL, 1, 1))
        .isEqualTo(
            "00000112 00012304 00000008 00000000 00000000 deadbee0 77777701 00000000 00000000 00000005 00000000 00000000 00000008 0a0b0c0d 00000000 f00df00d");
  }

  @Test
  void messages_without_bytes_have_no_data_segment() {
    command.length = 0;
    command.immediate = 5;
    assertThat(build(CommandEntry.OP_PUT_IMM, 0, 0))
        .isEqualTo("00000009 00012302 00000008 00000005 11223344 55667788 12345678 00000000");
    for (int opcode :
        new int[] {
          CommandEntry.OP_PUT,
          CommandEntry.OP_GET,
          CommandEntry.OP_PUT_INLINE,
          CommandEntry.OP_PUT_SIGNAL
        }) {
      assertThat(build(opcode, 0, 0))
          .describedAs(CommandEntry.opcodeName(opcode))
          .isEqualTo("00000000 00012301 00000008 00000000");
    }
    command.opcode = CommandEntry.OP_GET;
    assertThat(WqeBuilder.wqes(command, true)).isEqualTo(1);
  }

  @Test
  void a_wqe_that_others_stand_for_asks_for_no_completion() {
    command.opcode = CommandEntry.OP_PUT_SIGNAL;
    WqeBuilder.build(command, 0, 0, 0x123, false, wqe);
    assertThat(ControlSegment.isSignalled(ControlSegment.fmCeSe(wqe))).isFalse();
  }

  @Test
  void a_nop_is_a_control_segment_and_the_fence_flag_waits_for_reads() {
    command.flags = CommandEntry.FLAG_FENCE;
    assertThat(build(CommandEntry.OP_NOP, 0, 7)).isEqualTo("00000700 00012301 00000048 00000000");
  }

  @Test
  void unknown_opcodes_have_no_wqe() {
    command.opcode = 0x7e;
    assertThat(WqeBuilder.wqes(command, true)).isZero();
  }
}
