package dev.doorbell.core.mlx5;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.doorbell.core.NativeBytes;
import java.util.Arrays;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class PrintersTest {
  private static final byte[] WRITE =
      NativeBytes.bytes(
          """
          00000008 00012303 00000008 00000000
          00007e00 55667788 00d4e5f6 00000000
          00001000 00a1b2c3 00007f00 11223344
          """);

  @Test
  void a_write_prints_in_one_line() {
    assertThat(WqePrinter.line(WRITE, WqeQueue.RC))
        .isEqualTo(
            "WQE[0] RDMA_WRITE ds=3 fm_ce_se=0x08 signalled qpn=0x000123 raddr=0x7e0055667788"
                + " rkey=0x00d4e5f6 data=4096@0x7f0011223344 lkey=0x00a1b2c3");
  }

  @Test
  void a_write_prints_bit_by_bit() {
    assertThat(WqePrinter.full(WRITE, WqeQueue.RC))
        .isEqualTo(
            WqePrinter.line(WRITE, WqeQueue.RC)
                + '\n'
                + """
                control segment
                  +00  00000008  opmod                    31:24  0x00
                                 wqe_index                 23:8  0x0000              block 0
                                 opcode                     7:0  0x08                RDMA_WRITE
                  +04  00012303  qpn                       31:8  0x000123
                                 reserved                   7:6  0b00
                                 ds                         5:0  0x03                3 units, 48 bytes, 1 block
                  +08  00000008  signature                31:24  0x00
                                 dci_stream_channel_id     23:8  0x0000
                                 fm_ce_se: fence            7:5  0b000               none
                                 fm_ce_se: reserved           4  0b0
                                 fm_ce_se: completion       3:2  0b10                always a CQE
                                 fm_ce_se: solicited          1  0b0                 no
                                 fm_ce_se: reserved           0  0b0
                  +0c  00000000  imm                       31:0  0x00000000          unused
                remote address segment
                  +10  00007e00  raddr                     63:0  0x00007e0055667788
                  +14  55667788
                  +18  00d4e5f6  rkey: index               31:8  0x00d4e5
                                 rkey: tag                  7:0  0xf6
                  +1c  00000000  reserved                  31:0  0x00000000          ignored
                data segment
                  +20  00001000  inline                      31  0b0
                                 byte_count                30:0  0x00001000          4096 bytes
                  +24  00a1b2c3  lkey: index               31:8  0x00a1b2
                                 lkey: tag                  7:0  0xc3
                  +28  00007f00  addr                      63:0  0x00007f0011223344
                  +2c  11223344
                """);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "00000000 00012301 00000000 00000000"
            + "| WQE[0] NOP ds=1 fm_ce_se=0x00 unsignalled qpn=0x000123",
        "00ffff0b 00012301 0000004e 00000007"
            + "| WQE[65535] SEND_IMM ds=1 fm_ce_se=0x4e signalled+event solicited fence=reads"
            + " qpn=0x000123 imm=0x00000007",
        "0000000f 00012402 00000004 00000000 deadbeef deadbeef 00000005 00000404"
            + "| WQE[0] WAIT ds=2 fm_ce_se=0x04 unsignalled (first error only) qpn=0x000124"
            + " max_index=5 cqn=0x000404",
        "08000015 00012303 000000a8 00000000 00000000 00001000 00000001 00000000"
            + " 00000003 80000000 00000000 00000000"
            + "| WQE[0] ATOMIC_MASKED_FA opmod=0x08 ds=3 fm_ce_se=0xa8 signalled fence=undefined"
            + " qpn=0x000123 raddr=0x1000 rkey=0x00000001 add=0x3 boundary=0x80000000",
        "00000001 00012302 00000028 0000abcd 80000003 01020300 00000000 00000000"
            + "| WQE[0] SEND_INVAL ds=2 fm_ce_se=0x28 signalled fence=initiator-small qpn=0x000123"
            + " invalidate rkey=0x0000abcd inline=3:010203",
        "00000025 00012302 00000068 0000ab00 00000000 00000000 00000000 00000000"
            + "| WQE[0] UMR ds=2 fm_ce_se=0x68 signalled fence=strong-ordering qpn=0x000123"
            + " mkey=0x0000ab00 MALFORMED:"
            + " ds=2 is too short for the UMR control segment of UMR",
        "0000007e 00012301 00000008 00000000"
            + "| WQE[0] opcode 0x7e ds=1 fm_ce_se=0x08 signalled qpn=0x000123",
      })
  void a_line_says_what_the_bytes_say(String words, String line) {
    assertThat(WqePrinter.line(NativeBytes.bytes(words), WqeQueue.RC)).isEqualTo(line);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "00000008 00012300 00000008 00000000| ds=0 does not cover the control segment",
        "00000008 00012303 00000008 00000000| the WQE has 48 bytes, only 16 are here",
        "00000008 00012301 00000008 00000000"
            + "| ds=1 is too short for the remote address segment of RDMA_WRITE",
        "0000000a 00012302 00000008 00000000 8000000d 00000000 00000000 00000000"
            + "| 13 inline bytes do not fit the WQE",
        "0000000a 00012302 00000008 00000000 ffffffff 00000000 00000000 00000000"
            + "| 2147483647 inline bytes do not fit the WQE",
      })
  void a_malformed_wqe_prints_what_is_wrong_with_it(String words, String problem) {
    byte[] wqe = NativeBytes.bytes(words);
    assertThat(WqePrinter.line(wqe, WqeQueue.RC)).endsWith(" MALFORMED: " + problem);
    assertThat(WqePrinter.full(wqe, WqeQueue.RC)).contains("control segment\n  +00  ");
  }

  @Test
  void any_bytes_print() {
    long seed = 20_260_101;
    SplittableRandom random = new SplittableRandom(seed);
    int[] opcodes = {0, 1, 8, 9, 10, 11, 14, 15, 16, 17, 18, 20, 21, 25, 35, 37};
    for (int round = 0; round < 3_000; round++) {
      byte[] wqe = new byte[16 * (1 + random.nextInt(64))];
      random.nextBytes(wqe);
      if (random.nextBoolean()) {
        wqe[ControlSegment.OPCODE_OFFSET] = (byte) opcodes[random.nextInt(opcodes.length)];
        wqe[ControlSegment.DS_OFFSET] = (byte) random.nextInt(9);
      }
      String full = WqePrinter.full(wqe, WqeQueue.RC);
      String context = "seed " + seed + " round " + round + "\n" + full;
      assertThat(full)
          .as(context)
          .startsWith(WqePrinter.line(wqe, WqeQueue.RC) + "\n")
          .endsWith("\n");
      long words = full.lines().filter(line -> line.startsWith("  +")).count();
      int ds = wqe[ControlSegment.DS_OFFSET] & ControlSegment.MAX_DS;
      assertThat(words)
          .as(context)
          .isLessThanOrEqualTo(Math.max(4, Math.min(4L * ds, wqe.length / 4)));
      if (!full.contains("MALFORMED")) {
        assertThat(words).as(context).isEqualTo(4L * ds);
      }
    }
  }

  @Test
  void less_than_a_control_segment_is_no_wqe() {
    assertThatThrownBy(() -> WqePrinter.line(new byte[15], WqeQueue.RC))
        .hasMessage("a WQE starts with a control segment of 16 bytes, 15 were given");
    assertThatThrownBy(() -> CqePrinter.full(new byte[63]))
        .hasMessage("a CQE has 64 bytes, 63 were given");
  }

  @Test
  void a_requesters_cqe_names_the_opcode_that_is_done() {
    try (NativeBytes cqe = new NativeBytes(Cqe.BYTES)) {
      Cqe.writeRequester(cqe.address(), Opcode.RDMA_READ, 0x1234, 0x1_0007, 256, 99, 1);
      assertThat(CqePrinter.line(cqe.address()))
          .isEqualTo("CQE REQ RDMA_READ qpn=0x001234 wqe_counter=7 byte_cnt=256 owner=1");
      assertThat(CqePrinter.full(cqe.address()).lines())
          .hasSize(1 + 16 + 10)
          .contains(
              "  +2c  00000100  byte_cnt                  31:0  0x00000100          256 bytes",
              "  +30  00000000  timestamp                 63:0  0x0000000000000063",
              "  +38  10001234  WQE opcode               31:24  0x10                RDMA_READ",
              "  +3c  00070001  wqe_counter              31:16  0x0007              block 7");
    }
  }

  @Test
  void a_responders_cqe_names_the_immediate() {
    try (NativeBytes cqe = new NativeBytes(Cqe.BYTES)) {
      Cqe.writeResponder(
          cqe.address(), Cqe.RESPONDER_SEND_IMM, 7, 1, 2, 16, 0xcafebabe, true, 0, 0);
      assertThat(CqePrinter.line(cqe.address()))
          .isEqualTo(
              "CQE RESP_SEND_IMM qpn=0x000007 wqe_counter=2 byte_cnt=16 imm=0xcafebabe solicited"
                  + " owner=0");
      Cqe.writeResponder(cqe.address(), Cqe.RESPONDER_SEND_INVAL, 7, 1, 2, 16, 5, false, 0, 0);
      assertThat(CqePrinter.line(cqe.address())).contains(" invalidated_rkey=0x00000005 ");
    }
  }

  @Test
  void an_error_cqe_names_the_syndrome_and_what_mends_it() {
    try (NativeBytes cqe = new NativeBytes(Cqe.BYTES)) {
      ErrorCqe.write(
          cqe.address(),
          Cqe.REQUESTER_ERROR,
          Syndrome.REMOTE_ACCESS,
          0x88,
          Opcode.RDMA_WRITE,
          0x1234,
          2,
          1);
      assertThat(CqePrinter.line(cqe.address()))
          .isEqualTo(
              "CQE REQ_ERR remote access error (syndrome=0x13 vendor=0x88) RDMA_WRITE qpn=0x001234"
                  + " wqe_counter=2 owner=1: "
                  + Syndrome.remedy(Syndrome.REMOTE_ACCESS));
      assertThat(CqePrinter.full(cqe.address()))
          .contains(
              "syndrome                   7:0  0x13                remote access error\n",
              "op_own: opcode             7:4  0xd                 REQ_ERR\n");
    }
  }

  @Test
  void an_entry_that_was_never_written_says_so() {
    byte[] fresh = new byte[Cqe.BYTES];
    Arrays.fill(fresh, Cqe.INITIAL_FILL);
    assertThat(CqePrinter.line(fresh)).isEqualTo("CQE INVALID owner=1: never written");
  }

  @Test
  void doorbells_and_records_print() {
    long value = Doorbell.encode(0x12345, 0x1234);
    assertThat(DoorbellPrinter.line(value)).isEqualTo("doorbell qpn=0x001234 index=9029");
    assertThat(DoorbellPrinter.full(value))
        .isEqualTo(
            """
            doorbell qpn=0x001234 index=9029
              +00  00234500  ignored                  31:24  0x00
                             index                     23:8  0x2345
                             ignored                    7:0  0x00                the opcode, where a control segment is stored
              +04  00123400  qpn                       31:8  0x001234
                             ignored                    7:0  0x00                DS, where a control segment is stored
            """);
    try (NativeBytes record = new NativeBytes(DoorbellRecord.BYTES)) {
      DoorbellRecord.putSendIndex(record.address(), 3);
      DoorbellRecord.putReceiveIndex(record.address(), 4);
      assertThat(DoorbellPrinter.fullRecord(record.address()))
          .isEqualTo(
              """
              doorbell record receive=4 send=3
                +00  00000004  0                        31:16  0x0000
                               receive counter           15:0  0x0004
                +04  00000003  0                        31:16  0x0000
                               send counter              15:0  0x0003
              """);
    }
  }
}
