package dev.doorbell.interop.shim.gpu;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.airlift.compress.v3.Compressor;
import io.airlift.compress.v3.lz4.Lz4Compressor;
import io.airlift.compress.v3.zstd.ZstdCompressor;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Fat binaries, made here entry by entry. */
final class FatBinaryTest {
  private static final int PTX = 1;
  private static final int ELF = 2;
  private static final int PLAIN = 0x11;
  private static final int LZ4 = 0x2011;
  private static final int ZSTANDARD = 0x8011;

  private final ByteArrayOutputStream entries = new ByteArrayOutputStream();

  private FatBinaryTest add(int kind, int architecture, int flags, String text) {
    byte[] raw = (text + "\0").getBytes(UTF_8);
    byte[] payload =
        switch (flags) {
          case LZ4 -> compress(Lz4Compressor.create(), raw);
          case ZSTANDARD -> compress(ZstdCompressor.create(), raw);
          default -> raw;
        };
    int padded = (payload.length + 7) & -8;
    ByteBuffer entry = ByteBuffer.allocate(72 + padded).order(ByteOrder.LITTLE_ENDIAN);
    entry.putShort(0, (short) kind).putInt(4, 72).putLong(8, padded);
    entry.putInt(16, flags == PLAIN ? 0 : payload.length).putInt(28, architecture);
    entry.putLong(40, flags).putLong(56, flags == PLAIN ? 0 : raw.length).put(72, payload);
    entries.writeBytes(entry.array());
    return this;
  }

  private static byte[] compress(Compressor compressor, byte[] raw) {
    byte[] room = new byte[compressor.maxCompressedLength(raw.length)];
    return Arrays.copyOf(room, compressor.compress(raw, 0, raw.length, room, 0, room.length));
  }

  private byte[] binary() {
    ByteBuffer all = ByteBuffer.allocate(16 + entries.size()).order(ByteOrder.LITTLE_ENDIAN);
    all.putInt(0xba55_ed50).putShort((short) 1).putShort((short) 16).putLong(entries.size());
    return all.put(entries.toByteArray()).array();
  }

  @ParameterizedTest
  @CsvSource({"0x11", "0x2011", "0x8011"})
  void text_is_read_plain_and_in_both_compressions(int flags) throws CudaException {
    String text = ".version 8.0\n" + "// a line that repeats\n".repeat(100);
    byte[] binary = add(ELF, 90, PLAIN, "machine code").add(PTX, 80, flags, text).binary();
    assertThat(FatBinary.ptx(binary, 90)).isEqualTo(text);
    assertThat(FatBinary.bytes(binary)).isEqualTo(binary.length);
  }

  @Test
  void the_highest_architecture_that_the_gpu_runs_is_chosen() throws CudaException {
    add(PTX, 75, PLAIN, "75").add(PTX, 100, PLAIN, "100").add(PTX, 90, PLAIN, "90");
    add(PTX, 80, PLAIN, "80");
    assertThat(FatBinary.ptx(binary(), 90)).isEqualTo("90");
    assertThat(FatBinary.ptx(binary(), 89)).isEqualTo("80");
    assertThat(FatBinary.ptx(binary(), 120)).isEqualTo("100");
    assertThat(FatBinary.ptx(binary(), 50)).isEqualTo("75");
  }

  @Test
  void machine_code_alone_has_no_text() throws CudaException {
    assertThat(FatBinary.ptx(add(ELF, 90, PLAIN, "machine code").binary(), 90)).isNull();
  }

  @Test
  void bytes_that_are_none_are_refused_as_the_programs_error() {
    assertThatThrownBy(() -> FatBinary.bytes(new byte[16])).isInstanceOf(CudaException.class);
    byte[] broken = add(PTX, 80, ZSTANDARD, "text").binary();
    broken[16 + 72] ^= 0x55;
    assertThatThrownBy(() -> FatBinary.ptx(broken, 90)).isInstanceOf(CudaException.class);
    byte[] cut = Arrays.copyOf(broken, broken.length - 8);
    assertThatThrownBy(() -> FatBinary.ptx(cut, 90)).isInstanceOf(CudaException.class);
  }
}
