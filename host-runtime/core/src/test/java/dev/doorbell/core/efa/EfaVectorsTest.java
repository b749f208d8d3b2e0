package dev.doorbell.core.efa;

import static org.assertj.core.api.Assertions.assertThat;

import dev.doorbell.core.efa.generated.RxDescriptor;
import dev.doorbell.core.efa.generated.TxBuffer;
import dev.doorbell.core.memory.RawMemory;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.HexFormat;
import java.util.function.LongConsumer;
import org.junit.jupiter.api.Test;

/**
 * Work requests and completions against the bytes that the structures of rdma-core's
 * providers/efa/efa_io_defs.h give, which a C program filled by field names and masks.
 */
class EfaVectorsTest {
  private static final String WRITE =
      "3412821d070101000000000005000000efcdab89000000000000000000000000"
          + "001000004433221188776655017f000000100000efcdab00f0debc9a027f0000";
  private static final String WRITE_IMM =
      "3412921d07010100bebafeca05000000efcdab89000000000000000000000000"
          + "001000004433221188776655017f000000100000efcdab00f0debc9a027f0000";
  private static final String WRITE_INLINE =
      "ffffa21c08010900000000000100000000000000000000000000000000000000"
          + "0900000021100000001000000000000040414243444546474800000000000000";
  private static final String READ =
      "0700811d07010100000000000000000000000000000000000000000000000000"
          + "4000000032200000000000001200000040000000433000000008000000000000";
  private static final String SEND =
      "0900801d07010200000000000000000000000000000000000000000000000000"
          + "640000004330000000080000000000001c000000543000000000000001000000";
  private static final String RECEIVE = "f0debc9a027f000002010020433000c0";
  private static final String COMPLETED_WRITE = "34120723070100000000000000000000";
  private static final String COMPLETED_IMM =
      "0201002c0801785600000701bebafeca34120000000000000000000000000000";

  private static String written(int bytes, LongConsumer writer) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment memory = arena.allocate(TxWqe.BYTES, 64);
      memory.fill((byte) 0x5a);
      writer.accept(memory.address());
      return HexFormat.of().formatHex(memory.asSlice(0, bytes).toArray(ValueLayout.JAVA_BYTE));
    }
  }

  private static void read(String hex, LongConsumer reader) {
    try (Arena arena = Arena.ofConfined()) {
      byte[] bytes = HexFormat.of().parseHex(hex);
      MemorySegment memory = arena.allocate(TxWqe.BYTES, 64);
      MemorySegment.copy(bytes, 0, memory, ValueLayout.JAVA_BYTE, 0, bytes.length);
      reader.accept(memory.address());
    }
  }

  private static void write(long at, boolean immediate) {
    TxWqe.writeMeta(at, 0x1234, TxWqe.RDMA_WRITE, false, 1, 1, 0x107, 5, 0x89abcdef);
    TxWqe.putRemote(at, 4096, 0x11223344, 0x7f01_5566_7788L);
    TxWqe.putBuffer(at, 0, 4096, 0xabcdef, 0x7f02_9abc_def0L);
    if (immediate) {
      TxWqe.putImmediate(at, 0xcafebabe);
    }
  }

  @Test
  void an_rdma_write_has_the_bytes_of_the_header() {
    assertThat(written(64, at -> write(at, false))).isEqualTo(WRITE);
    assertThat(written(64, at -> write(at, true))).isEqualTo(WRITE_IMM);
    read(
        WRITE_IMM,
        at -> {
          assertThat(TxWqe.isWhole(at)).isTrue();
          assertThat(TxWqe.requestId(at)).isEqualTo(0x1234);
          assertThat(TxWqe.operation(at)).isEqualTo(TxWqe.RDMA_WRITE);
          assertThat(TxWqe.hasImmediate(at)).isTrue();
          assertThat(TxWqe.isInline(at)).isFalse();
          assertThat(TxWqe.phase(at)).isOne();
          assertThat(TxWqe.wantsCompletion(at)).isTrue();
          assertThat(TxWqe.destination(at)).isEqualTo(0x107);
          assertThat(TxWqe.length(at)).isOne();
          assertThat(TxWqe.immediate(at)).isEqualTo(0xcafebabe);
          assertThat(TxWqe.addressHandle(at)).isEqualTo(5);
          assertThat(TxWqe.queueKey(at)).isEqualTo(0x89abcdef);
          assertThat(TxWqe.remoteLength(at)).isEqualTo(4096);
          assertThat(TxWqe.remoteKey(at)).isEqualTo(0x11223344);
          assertThat(TxWqe.remoteAddress(at)).isEqualTo(0x7f01_5566_7788L);
          long buffer = TxWqe.buffer(at, 0);
          assertThat(TxBuffer.length(buffer)).isEqualTo(4096);
          assertThat(TxBuffer.localKey(buffer)).isEqualTo(0xabcdef);
          assertThat(TxBuffer.address(buffer)).isEqualTo(0x7f02_9abc_def0L);
        });
  }

  @Test
  void an_inline_write_of_the_second_lap_has_the_bytes_of_the_header() {
    String bytes =
        written(
            64,
            at -> {
              TxWqe.writeMeta(at, 0xffff, TxWqe.RDMA_WRITE, true, 9, 2, 0x108, 1, 0);
              TxWqe.putRemote(at, 9, 0x1021, 0x1000);
              for (int i = 0; i < 9; i++) {
                RawMemory.putByte(TxWqe.inlineData(at) + i, (byte) (0x40 + i));
              }
            });
    assertThat(bytes).isEqualTo(WRITE_INLINE);
    read(
        WRITE_INLINE,
        at -> {
          assertThat(TxWqe.isInline(at)).isTrue();
          assertThat(TxWqe.phase(at)).isZero();
          assertThat(TxWqe.length(at)).isEqualTo(9);
        });
  }

  @Test
  void a_read_and_a_send_have_the_bytes_of_the_header() {
    assertThat(
            written(
                64,
                at -> {
                  TxWqe.writeMeta(at, 7, TxWqe.RDMA_READ, false, 1, 1, 0x107, 0, 0);
                  TxWqe.putRemote(at, 64, 0x2032, 0x12_0000_0000L);
                  TxWqe.putBuffer(at, 0, 64, 0x3043, 0x800);
                }))
        .isEqualTo(READ);
    assertThat(
            written(
                64,
                at -> {
                  TxWqe.writeMeta(at, 9, TxWqe.SEND, false, 2, 1, 0x107, 0, 0);
                  TxWqe.putBuffer(at, 0, 100, 0x3043, 0x800);
                  TxWqe.putBuffer(at, 1, 28, 0x3054, 0x1_0000_0000L);
                }))
        .isEqualTo(SEND);
  }

  @Test
  void a_receive_has_the_bytes_of_the_header() {
    assertThat(written(16, at -> RxDescriptor.write(at, 0x102, 0x7f02_9abc_def0L, 8192, 0x3043)))
        .isEqualTo(RECEIVE);
    read(
        RECEIVE,
        at -> {
          assertThat(RxDescriptor.requestId(at)).isEqualTo(0x102);
          assertThat(RxDescriptor.address(at)).isEqualTo(0x7f02_9abc_def0L);
          assertThat(RxDescriptor.length(at)).isEqualTo(8192);
          assertThat(RxDescriptor.key(at)).isEqualTo(0x3043);
          assertThat(RxDescriptor.isFirst(at) && RxDescriptor.isLast(at)).isTrue();
        });
  }

  @Test
  void completions_have_the_bytes_of_the_header() {
    assertThat(
            written(
                16,
                at ->
                    CompletionEntry.writeRequest(
                        at,
                        0x1234,
                        CompletionEntry.REMOTE_BAD_ADDRESS,
                        TxWqe.RDMA_WRITE,
                        0x107,
                        1)))
        .isEqualTo(COMPLETED_WRITE);
    assertThat(
            written(
                32,
                at ->
                    CompletionEntry.writeReceive(
                        at,
                        0x102,
                        CompletionEntry.OK,
                        TxWqe.RDMA_WRITE,
                        0x108,
                        0,
                        0x1234_5678,
                        0x107,
                        true,
                        0xcafebabe)))
        .isEqualTo(COMPLETED_IMM);
    read(
        COMPLETED_IMM,
        at -> {
          assertThat(CompletionEntry.queue(at)).isEqualTo(CompletionEntry.RECEIVE_QUEUE);
          assertThat(CompletionEntry.phase(at)).isZero();
          assertThat(CompletionEntry.hasImmediate(at)).isTrue();
          assertThat(CompletionEntry.operation(at)).isEqualTo(TxWqe.RDMA_WRITE);
          assertThat(CompletionEntry.number(at)).isEqualTo(0x108);
          assertThat(CompletionEntry.length(at)).isEqualTo(0x1234_5678);
          assertThat(CompletionEntry.sourceNumber(at)).isEqualTo(0x107);
          assertThat(CompletionEntry.immediate(at)).isEqualTo(0xcafebabe);
        });
  }
}
