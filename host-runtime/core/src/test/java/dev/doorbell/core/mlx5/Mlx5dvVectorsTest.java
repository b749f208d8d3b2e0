package dev.doorbell.core.mlx5;

import static org.assertj.core.api.Assertions.assertThat;

import dev.doorbell.core.NativeBytes;
import dev.doorbell.core.memory.RawMemory;
import dev.doorbell.core.mlx5.DecodedWqe.Atomic;
import dev.doorbell.core.mlx5.DecodedWqe.Data;
import dev.doorbell.core.mlx5.DecodedWqe.Inline;
import dev.doorbell.core.mlx5.DecodedWqe.Remote;
import dev.doorbell.core.mlx5.DecodedWqe.Segment;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** WQEs, doorbells and records against what the structures of rdma-core's mlx5dv.h give. */
class Mlx5dvVectorsTest {
  private static final int QPN = 0x1234;
  private static final Pattern LINE =
      Pattern.compile(
          "(\\w+) +pi=0x(\\p{XDigit}+) ds=(\\d+) wqe=(\\p{XDigit}+) db=(\\p{XDigit}{16})"
              + " dbr=(\\p{XDigit}{8})");
  private static final Remote REMOTE = new Remote(0x7e00_5566_7788L, 0x00d4e5f6);
  private static final Data DATA = new Data(0x1000, 0x00a1b2c3, 0x7f00_1122_3344L);
  private static final Data CELL = new Data(8, 0x00a1b2c3, 0x7f00_1122_3344L);
  private static final Map<String, DecodedWqe> MEANINGS = meanings();

  record Vector(String name, int index, int ds, String wqe, String doorbell, String record) {
    static Vector parse(String line) {
      Matcher fields = LINE.matcher(line);
      if (!fields.matches()) {
        throw new IllegalStateException("not a vector: " + line);
      }
      return new Vector(
          fields.group(1),
          Integer.parseInt(fields.group(2), 16),
          Integer.parseInt(fields.group(3)),
          fields.group(4),
          fields.group(5),
          fields.group(6));
    }

    DecodedWqe meaning() {
      return Objects.requireNonNull(MEANINGS.get(name), name);
    }

    @Override
    public String toString() {
      return name;
    }
  }

  static Stream<Vector> vectors() {
    return Fixtures.lines("wqe.txt").stream().map(Vector::parse);
  }

  @Test
  void every_vector_of_the_file_is_known_here() {
    assertThat(vectors().map(Vector::name)).containsExactlyInAnyOrderElementsOf(MEANINGS.keySet());
  }

  @ParameterizedTest
  @MethodSource("vectors")
  void decoding_gives_every_field(Vector vector) {
    try (NativeBytes wqe = NativeBytes.ofHex(vector.wqe)) {
      assertThat(ControlSegment.ds(wqe.address())).isEqualTo(vector.ds);
      assertThat(ControlSegment.signature(wqe.address())).isZero();
      assertThat(DecodedWqe.read(wqe.address())).isEqualTo(vector.meaning());
    }
  }

  @ParameterizedTest
  @MethodSource("vectors")
  void encoding_gives_the_same_bytes(Vector vector) {
    int blocks = SendQueue.blocks(vector.ds);
    try (NativeBytes wqe = new NativeBytes((long) blocks * SendQueue.BLOCK)) {
      vector.meaning().write(wqe.address());
      assertThat(wqe.hex()).isEqualTo(vector.wqe);
    }
  }

  @ParameterizedTest
  @MethodSource("vectors")
  void the_doorbell_of_libmlx5_is_the_beginning_of_the_wqe(Vector vector) {
    try (NativeBytes wqe = NativeBytes.ofHex(vector.wqe);
        NativeBytes rung = new NativeBytes(Doorbell.BYTES)) {
      long value = Doorbell.read(wqe.address());
      RawMemory.putLong(rung.address(), value);
      assertThat(rung.hex()).isEqualTo(vector.doorbell);
      assertThat(Doorbell.index(value)).isEqualTo(vector.index);
      assertThat(Doorbell.qpn(value)).isEqualTo(QPN);
    }
  }

  @ParameterizedTest
  @MethodSource("vectors")
  void a_doorbell_without_opcode_and_ds_says_the_same(Vector vector) {
    try (NativeBytes rung = new NativeBytes(Doorbell.BYTES)) {
      RawMemory.putLong(rung.address(), Doorbell.encode(vector.index, QPN));
      String withoutOpcodeAndDs =
          vector.doorbell.substring(0, 6) + "00" + vector.doorbell.substring(8, 14) + "00";
      assertThat(rung.hex()).isEqualTo(withoutOpcodeAndDs);
      assertThat(Doorbell.index(Doorbell.read(rung.address()))).isEqualTo(vector.index);
      assertThat(Doorbell.qpn(Doorbell.read(rung.address()))).isEqualTo(QPN);
    }
  }

  @ParameterizedTest
  @MethodSource("vectors")
  void the_record_counts_one_past_the_last_block(Vector vector) {
    long next = (long) vector.index + SendQueue.blocks(vector.ds);
    try (NativeBytes record = new NativeBytes(DoorbellRecord.BYTES)) {
      DoorbellRecord.putSendIndex(record.address(), next);
      assertThat(record.hex()).isEqualTo("00000000" + vector.record);
      assertThat(DoorbellRecord.sendIndex(record.address())).isEqualTo((int) next & 0xffff);
    }
  }

  private static Map<String, DecodedWqe> meanings() {
    Map<String, DecodedWqe> all = new TreeMap<>();
    put(all, "RDMA_WRITE", 0, 0x08, 0x08, 0, REMOTE, DATA);
    put(all, "RDMA_WRITE_UNSIGNALED", 1, 0x08, 0x00, 0, REMOTE, DATA);
    put(
        all,
        "RDMA_WRITE_2SGE",
        2,
        0x08,
        0x08,
        0,
        REMOTE,
        new Data(100, 0x00a1b2c3, 0x7f00_1122_3344L),
        new Data(28, 0x00a1b2c3, 0x7f00_1122_5344L));
    put(all, "RDMA_WRITE_IMM_SOLICITED", 3, 0x09, 0x0a, 0xcafebabe, REMOTE, DATA);
    put(all, "RDMA_READ", 4, 0x10, 0x08, 0, REMOTE, DATA);
    put(all, "RDMA_READ_FENCE", 5, 0x10, 0x88, 0, REMOTE, DATA);
    put(all, "ATOMIC_FA", 6, 0x12, 0x08, 0, REMOTE, new Atomic(0x1122_3344_5566_7788L, 0), CELL);
    put(
        all,
        "ATOMIC_CS",
        7,
        0x11,
        0x08,
        0,
        REMOTE,
        new Atomic(0x1122_3344_5566_7788L, 0x99aa_bbcc_ddee_ff00L),
        CELL);
    put(all, "NOP", 8, 0x00, 0x08, 0);
    put(all, "NOP_UNSIGNALED", 9, 0x00, 0x00, 0);
    put(all, "RDMA_WRITE_INLINE_1", 0xa, 0x08, 0x08, 0, REMOTE, counting(1));
    put(all, "RDMA_WRITE_INLINE_12", 0xb, 0x08, 0x08, 0, REMOTE, counting(12));
    put(all, "RDMA_WRITE_INLINE_28", 0xc, 0x08, 0x08, 0, REMOTE, counting(28));
    put(all, "RDMA_WRITE_INLINE_64", 0xd, 0x08, 0x08, 0, REMOTE, counting(64));
    put(all, "RDMA_WRITE_PI_WRAP", 0xffff, 0x08, 0x08, 0, REMOTE, DATA);
    put(all, "SEND", 0x10, 0x0a, 0x08, 0, DATA);
    put(all, "SEND_IMM", 0x11, 0x0b, 0x08, 0xcafebabe, DATA);
    return all;
  }

  private static void put(
      Map<String, DecodedWqe> all,
      String name,
      int index,
      int opcode,
      int fmCeSe,
      int immediate,
      Segment... segments) {
    all.put(name, new DecodedWqe(0, index, opcode, QPN, fmCeSe, immediate, List.of(segments)));
  }

  /** 01 02 03 ... */
  private static Inline counting(int bytes) {
    StringBuilder hex = new StringBuilder();
    for (int i = 1; i <= bytes; i++) {
      hex.append("%02x".formatted(i));
    }
    return new Inline(hex.toString());
  }
}
