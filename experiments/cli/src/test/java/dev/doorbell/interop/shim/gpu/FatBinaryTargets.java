package dev.doorbell.interop.shim.gpu;

import dev.doorbell.experiments.fuzz.FuzzTarget;
import dev.doorbell.experiments.fuzz.FuzzTarget.Outcome;
import dev.doorbell.experiments.fuzz.Mutator;
import io.airlift.compress.v3.Compressor;
import io.airlift.compress.v3.lz4.Lz4Compressor;
import io.airlift.compress.v3.zstd.ZstdCompressor;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;

/** Fat binaries of nvcc, which a program under {@code exec} has. */
public final class FatBinaryTargets {
  private static final byte[] PTX =
      ".version 8.0\n.target sm_90\n.address_size 64\n".repeat(4).getBytes(StandardCharsets.UTF_8);
  private static final long LZ4 = 0x2000;
  private static final long ZSTANDARD = 0x8000;
  private static final int ENTRY_BYTES = 64;

  /** Returns the targets. */
  public List<FuzzTarget> targets() {
    return List.of(
        FuzzTarget.of(
            "fatbin",
            "fat binaries of nvcc",
            () ->
                List.of(
                    binary(PTX, 0, 0),
                    binary(compressed(Lz4Compressor.create()), LZ4, PTX.length),
                    binary(compressed(ZstdCompressor.create()), ZSTANDARD, PTX.length)),
            Mutator.bytes("\u0001\0\u0001\1", "\0\0\0\0\0\0\0\0"),
            FatBinaryTargets::read));
  }

  private static byte[] compressed(Compressor compressor) {
    byte[] bytes = new byte[compressor.maxCompressedLength(PTX.length)];
    return Arrays.copyOf(bytes, compressor.compress(PTX, 0, PTX.length, bytes, 0, bytes.length));
  }

  private static byte[] binary(byte[] payload, long flags, long raw) {
    ByteBuffer all =
        ByteBuffer.allocate(FatBinary.HEADER_BYTES + ENTRY_BYTES + payload.length)
            .order(ByteOrder.LITTLE_ENDIAN);
    all.putInt(0xba55_ed50).putShort((short) 1).putShort((short) FatBinary.HEADER_BYTES);
    all.putLong(ENTRY_BYTES + payload.length);
    ByteBuffer entry = all.slice().order(ByteOrder.LITTLE_ENDIAN);
    entry.putShort(0, (short) 1).putInt(4, ENTRY_BYTES).putLong(8, payload.length);
    entry.putInt(16, flags == 0 ? 0 : payload.length).putInt(28, 90);
    entry.putLong(40, flags).putLong(56, raw).put(ENTRY_BYTES, payload);
    return all.array();
  }

  private static Outcome read(byte[] input) {
    try {
      if (input.length < FatBinary.HEADER_BYTES || FatBinary.bytes(input) > input.length) {
        return Outcome.REFUSED;
      }
      byte[] binary = Arrays.copyOf(input, (int) FatBinary.bytes(input));
      return FatBinary.ptx(binary, 90) == null ? Outcome.REFUSED : Outcome.ACCEPTED;
    } catch (CudaException _) {
      return Outcome.REFUSED;
    }
  }
}
