package dev.doorbell.core.mlx5;

import static org.assertj.core.api.Assertions.assertThat;

import dev.doorbell.core.NativeBytes;
import dev.doorbell.core.mlx5.DecodedWqe.Atomic;
import dev.doorbell.core.mlx5.DecodedWqe.Data;
import dev.doorbell.core.mlx5.DecodedWqe.Inline;
import dev.doorbell.core.mlx5.DecodedWqe.MaskedAdd4;
import dev.doorbell.core.mlx5.DecodedWqe.MaskedAdd8;
import dev.doorbell.core.mlx5.DecodedWqe.MaskedSwap4;
import dev.doorbell.core.mlx5.DecodedWqe.MaskedSwap8;
import dev.doorbell.core.mlx5.DecodedWqe.Remote;
import dev.doorbell.core.mlx5.DecodedWqe.Segment;
import dev.doorbell.core.mlx5.DecodedWqe.Wait;
import dev.doorbell.core.mlx5.DecodedWqe.Zero;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** WQEs as the device libraries (NVSHMEM IBGDA, GPUNetIO, NCCL GIN) put them into the ring. */
class WqeImagesTest {
  private static final int QPN = 0x123;
  private static final int COMPANION_QPN = 0x124;
  private static final Remote REMOTE = new Remote(0x7e00_5566_7788L, 0x00d4e5f6);
  private static final String REMOTE_WORDS = "00007e00 55667788 00d4e5f6 00000000";
  private static final Data CELL = new Data(8, 0x00a1b2c3, 0x7f00_1122_3344L);
  private static final String CELL_WORDS = "00000008 00a1b2c3 00007f00 11223344";

  record Image(String name, DecodedWqe meaning, String words) {
    @Override
    public String toString() {
      return name;
    }
  }

  static Stream<Image> images() {
    return Stream.of(
        image(
            "RDMA WRITE",
            wqe(0, Opcode.RDMA_WRITE, REMOTE, new Data(0x1000, 0xa1b2c3, 0x7f00_1122_3344L)),
            "00000008 00012303 00000008 00000000",
            REMOTE_WORDS,
            "00001000 00a1b2c3 00007f00 11223344"),
        image(
            "RDMA READ",
            wqe(0, Opcode.RDMA_READ, REMOTE, new Data(64, 0xa1b2c3, 0x7f00_1122_3344L)),
            "00000010 00012303 00000008 00000000",
            REMOTE_WORDS,
            "00000040 00a1b2c3 00007f00 11223344"),
        image(
            "DUMP after RDMA READ",
            wqe(1, Opcode.DUMP, new Data(1, 0xa1b2c3, 0x7f00_1122_3344L)),
            "00000123 00012302 00000008 00000000",
            "00000001 00a1b2c3 00007f00 11223344"),
        image(
            "inline WRITE of 8 bytes",
            wqe(0, Opcode.RDMA_WRITE, REMOTE, new Inline("0102030405060708")),
            "00000008 00012303 00000008 00000000",
            REMOTE_WORDS,
            "80000008 01020304 05060708 00000000"),
        image(
            "signal: fetch-add of 8 bytes, addend in both words",
            wqe(0, Opcode.ATOMIC_FA, REMOTE, new Atomic(0x1_0000_0002L, 0x1_0000_0002L), CELL),
            "00000012 00012304 00000008 00000000",
            REMOTE_WORDS,
            "00000001 00000002 00000001 00000002",
            CELL_WORDS),
        image(
            "signal after put",
            wqe(1, Opcode.ATOMIC_FA, REMOTE, new Atomic(1, 1), CELL),
            "00000112 00012304 00000008 00000000",
            REMOTE_WORDS,
            "00000000 00000001 00000000 00000001",
            CELL_WORDS),
        image(
            "masked add of 8 bytes",
            masked(
                0x09, Opcode.ATOMIC_MASKED_FA, 8, REMOTE, new MaskedAdd8(0x7_0000_0005L, 0), CELL),
            "09000015 00012304 00000008 00000000",
            REMOTE_WORDS,
            "00000007 00000005 00000000 00000000",
            CELL_WORDS),
        image(
            "masked add of 4 bytes as exclusive or",
            masked(
                0x08,
                Opcode.ATOMIC_MASKED_FA,
                8,
                REMOTE,
                new MaskedAdd4(0x1234_5678, -1),
                new Data(4, 0xa1b2c3, 0x7f00_1122_3344L)),
            "08000015 00012304 00000008 00000000",
            REMOTE_WORDS,
            "12345678 ffffffff 00000000 00000000",
            "00000004 00a1b2c3 00007f00 11223344"),
        image(
            "masked set of 8 bytes, two blocks",
            masked(
                0x09,
                Opcode.ATOMIC_MASKED_CS,
                0,
                REMOTE,
                new MaskedSwap8(0x1122_3344_5566_7788L, 0, -1, 0),
                CELL),
            "09000014 00012305 00000000 00000000",
            REMOTE_WORDS,
            "11223344 55667788 00000000 00000000",
            "ffffffff ffffffff 00000000 00000000",
            CELL_WORDS),
        image(
            "NOP that carries the CQE of the masked set",
            wqe(2, Opcode.NOP, new Zero()),
            "00000200 00012302 00000008 00000000",
            "00000000 00000000 00000000 00000000"),
        image(
            "masked set of 4 bytes",
            masked(
                0x08,
                Opcode.ATOMIC_MASKED_CS,
                8,
                REMOTE,
                new MaskedSwap4(0x0a0b_0c0d, 0, -1, 0),
                new Data(4, 0xa1b2c3, 0x7f00_1122_3344L)),
            "08000014 00012304 00000008 00000000",
            REMOTE_WORDS,
            "0a0b0c0d 00000000 ffffffff 00000000",
            "00000004 00a1b2c3 00007f00 11223344"),
        image(
            "WAIT on the companion",
            new DecodedWqe(0, 0, Opcode.WAIT, COMPANION_QPN, 0x08, 0, List.of(new Wait(0, 0x404))),
            "0000000f 00012402 00000008 00000000",
            "00000000 00000000 00000000 00000404"),
        image(
            "local counter after WAIT",
            new DecodedWqe(
                0,
                1,
                Opcode.ATOMIC_FA,
                COMPANION_QPN,
                0x08,
                0,
                List.of(REMOTE, new Atomic(1, 1), CELL)),
            "00000112 00012404 00000008 00000000",
            REMOTE_WORDS,
            "00000000 00000001 00000000 00000001",
            CELL_WORDS));
  }

  @ParameterizedTest
  @MethodSource("images")
  void decoding_gives_every_field(Image image) {
    try (NativeBytes wqe = NativeBytes.ofHex(image.words)) {
      assertThat(wqe.size()).isEqualTo(16L * ControlSegment.ds(wqe.address()));
      assertThat(DecodedWqe.read(wqe.address())).isEqualTo(image.meaning);
    }
  }

  @ParameterizedTest
  @MethodSource("images")
  void encoding_gives_the_same_words(Image image) {
    try (NativeBytes wqe = new NativeBytes(16L * image.meaning.ds())) {
      image.meaning.write(wqe.address());
      assertThat(wqe.hex()).isEqualTo(image.words.replace(" ", ""));
    }
  }

  @Test
  void words_that_libraries_leave_unwritten_are_ignored() {
    String dirtyWrite =
        "00000008 00012303 00000008 00000000 00007e00 55667788 00d4e5f6 deadbeef"
            + " 00001000 00a1b2c3 00007f00 11223344";
    String dirtyWait = "0000000f 00012402 00000008 00000000 deadbeef deadbeef 00000000 00000404";
    List<Image> clean = images().toList();
    try (NativeBytes write = NativeBytes.ofHex(dirtyWrite);
        NativeBytes wait = NativeBytes.ofHex(dirtyWait)) {
      assertThat(DecodedWqe.read(write.address())).isEqualTo(clean.getFirst().meaning);
      assertThat(DecodedWqe.read(wait.address())).isEqualTo(clean.get(11).meaning);
    }
  }

  @Test
  void ds_is_six_bits_whatever_stands_beside_it() {
    try (NativeBytes wqe = NativeBytes.ofHex("00000008 000123c3 00000008 00000000")) {
      assertThat(ControlSegment.ds(wqe.address())).isEqualTo(3);
      assertThat(ControlSegment.qpn(wqe.address())).isEqualTo(QPN);
    }
  }

  @Test
  void writing_a_control_segment_keeps_each_field_to_its_bits() {
    try (NativeBytes wqe = new NativeBytes(ControlSegment.BYTES)) {
      ControlSegment.write(wqe.address(), 0, -1, 0x08, 0xff00_0123, 0x1c3, 0x108, -1);
      assertThat(wqe.hex()).isEqualTo("00ffff08" + "00012303" + "00000008" + "ffffffff");
    }
  }

  private static Image image(String name, DecodedWqe meaning, String... units) {
    return new Image(name, meaning, String.join(" ", units));
  }

  private static DecodedWqe wqe(int index, int opcode, Segment... segments) {
    return new DecodedWqe(0, index, opcode, QPN, 0x08, 0, List.of(segments));
  }

  private static DecodedWqe masked(int opmod, int opcode, int fmCeSe, Segment... segments) {
    return new DecodedWqe(opmod, 0, opcode, QPN, fmCeSe, 0, List.of(segments));
  }
}
