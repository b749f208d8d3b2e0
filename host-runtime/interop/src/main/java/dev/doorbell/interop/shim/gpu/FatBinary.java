package dev.doorbell.interop.shim.gpu;

import io.airlift.compress.v3.MalformedInputException;
import io.airlift.compress.v3.lz4.Lz4JavaDecompressor;
import io.airlift.compress.v3.zstd.ZstdJavaDecompressor;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * A fat binary of nvcc: entries of PTX and machine code for several architectures.
 *
 * <pre>
 *   header   u32 magic, u16 version, u16 bytes of the header, u64 bytes behind it
 *   entry    u16 kind at 0, u32 header bytes at 4, u64 payload bytes at 8, u32 compressed bytes
 *            at 16, u32 architecture at 28, u64 flags at 40, u64 raw bytes at 56; then the payload
 * </pre>
 */
final class FatBinary {
  static final int HEADER_BYTES = 16;
  private static final int MAGIC = 0xba55_ed50;
  private static final int PTX = 1;
  private static final int LEAST_ENTRY = 64;
  private static final long LZ4 = 0x2000;
  private static final long ZSTANDARD = 0x8000;
  private static final int MOST_RAW = 1 << 28;

  private FatBinary() {}

  /** Returns the bytes of a whole fat binary, header included. */
  static long bytes(byte[] header) throws CudaException {
    ByteBuffer from = ByteBuffer.wrap(header).order(ByteOrder.LITTLE_ENDIAN);
    if (from.getInt(0) != MAGIC) {
      throw new CudaException(CudaStatus.INVALID_PTX, "the module is no fat binary of nvcc");
    }
    long bytes = from.getShort(6) + from.getLong(8);
    CudaException.require(
        from.getShort(6) >= HEADER_BYTES && bytes >= from.getShort(6), CudaStatus.INVALID_PTX);
    return bytes;
  }

  /**
   * Returns the PTX of the highest architecture that the GPU runs, else of the lowest there is;
   * null if there is none at all.
   */
  static @Nullable String ptx(byte[] binary, int capability) throws CudaException {
    ByteBuffer from = ByteBuffer.wrap(binary).order(ByteOrder.LITTLE_ENDIAN);
    int best = -1;
    int at = from.getShort(6);
    while (at + LEAST_ENTRY <= binary.length) {
      if (from.getShort(at) == PTX
          && (best < 0 || isBetter(from.getInt(at + 28), from.getInt(best + 28), capability))) {
        best = at;
      }
      long next = at + (long) from.getInt(at + 4) + from.getLong(at + 8);
      if (next <= at || next > binary.length) {
        break;
      }
      at = (int) next;
    }
    return best < 0 ? null : text(from, best);
  }

  private static boolean isBetter(int architecture, int than, int capability) {
    boolean runs = architecture <= capability;
    boolean otherRuns = than <= capability;
    return runs == otherRuns ? runs == (architecture > than) && architecture != than : runs;
  }

  private static byte[] bytes(ByteBuffer from, int start, int count) throws CudaException {
    CudaException.require(
        start >= 0 && count >= 0 && count <= from.limit() - start, CudaStatus.INVALID_PTX);
    byte[] bytes = new byte[count];
    from.get(start, bytes);
    return bytes;
  }

  private static String text(ByteBuffer from, int entry) throws CudaException {
    int start = entry + from.getInt(entry + 4);
    int payload = (int) from.getLong(entry + 8);
    int compressed = from.getInt(entry + 16);
    long flags = from.getLong(entry + 40);
    long raw = from.getLong(entry + 56);
    byte[] text;
    try {
      boolean isCompressed = (flags & (LZ4 | ZSTANDARD)) != 0;
      byte[] bytes = bytes(from, start, isCompressed ? compressed : payload);
      if (isCompressed) {
        CudaException.require(raw > 0 && raw <= MOST_RAW, CudaStatus.INVALID_PTX);
        text = new byte[(int) raw];
        if ((flags & ZSTANDARD) != 0) {
          new ZstdJavaDecompressor().decompress(bytes, 0, compressed, text, 0, text.length);
        } else {
          new Lz4JavaDecompressor().decompress(bytes, 0, compressed, text, 0, text.length);
        }
      } else {
        text = bytes;
      }
    } catch (MalformedInputException | IllegalArgumentException | IndexOutOfBoundsException e) {
      throw new CudaException(
          CudaStatus.INVALID_PTX, "the PTX of a fat binary cannot be read: " + e.getMessage());
    }
    int end = text.length;
    while (end > 0 && text[end - 1] == 0) {
      end--;
    }
    return new String(text, 0, end, StandardCharsets.UTF_8);
  }
}
