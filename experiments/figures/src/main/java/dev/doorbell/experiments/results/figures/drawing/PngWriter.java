package dev.doorbell.experiments.results.figures.drawing;

import java.awt.image.BufferedImage;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.zip.CRC32;
import java.util.zip.Deflater;
import org.apache.pdfbox.Loader;
import org.apache.pdfbox.pdmodel.PDDocument;
import org.apache.pdfbox.rendering.ImageType;
import org.apache.pdfbox.rendering.PDFRenderer;

/**
 * Renders the PDF of a drawing and writes it as PNG (W3C PNG specification, third edition): one
 * picture, whatever the format. Only glyph outlines of the embedded typeface are filled, so neither
 * a display nor fontconfig is needed.
 */
final class PngWriter {

  static final int DOTS_PER_INCH = 200;

  private static final byte[] SIGNATURE = {(byte) 0x89, 'P', 'N', 'G', '\r', '\n', 0x1A, '\n'};
  private static final double METRES_PER_INCH = 0.0254;

  private PngWriter() {}

  static byte[] write(byte[] pdf, Provenance provenance) {
    try (PDDocument document = Loader.loadPDF(pdf)) {
      BufferedImage image =
          new PDFRenderer(document).renderImageWithDPI(0, DOTS_PER_INCH, ImageType.RGB);
      return encode(image, provenance);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static byte[] encode(BufferedImage image, Provenance from) {
    ByteArrayOutputStream png = new ByteArrayOutputStream(1 << 16);
    png.writeBytes(SIGNATURE);
    chunk(png, "IHDR", header(image.getWidth(), image.getHeight()));
    int perMetre = (int) Math.round(DOTS_PER_INCH / METRES_PER_INCH);
    chunk(
        png,
        "pHYs",
        ByteBuffer.allocate(9).putInt(perMetre).putInt(perMetre).put((byte) 1).array());
    text(png, "Title", from.title());
    text(png, "Run", from.run());
    text(png, "Config", from.config());
    from.commit().ifPresent(id -> text(png, "Commit", id));
    text(png, "Basis", from.basis());
    chunk(png, "IDAT", deflate(rows(image)));
    chunk(png, "IEND", new byte[0]);
    return png.toByteArray();
  }

  private static byte[] header(int width, int height) {
    return ByteBuffer.allocate(13)
        .putInt(width)
        .putInt(height)
        .put((byte) 8) // bits a channel
        .put((byte) 2) // red, green, blue
        .put(new byte[3]) // deflate, adaptive filters, not interlaced
        .array();
  }

  /** Each row behind its filter byte: 2, difference to the row above, which suits ruled figures. */
  private static byte[] rows(BufferedImage image) {
    int width = image.getWidth();
    int stride = 3 * width + 1;
    byte[] rows = new byte[stride * image.getHeight()];
    int[] above = new int[width];
    int[] line = new int[width];
    for (int y = 0; y < image.getHeight(); y++) {
      image.getRGB(0, y, width, 1, line, 0, width);
      int at = y * stride;
      rows[at++] = 2;
      for (int x = 0; x < width; x++) {
        for (int shift = 16; shift >= 0; shift -= 8) {
          rows[at++] = (byte) ((line[x] >> shift) - (above[x] >> shift));
        }
      }
      int[] swapped = above;
      above = line;
      line = swapped;
    }
    return rows;
  }

  private static byte[] deflate(byte[] data) {
    try (Deflater deflater = new Deflater(Deflater.BEST_COMPRESSION)) {
      deflater.setInput(data);
      deflater.finish();
      ByteArrayOutputStream packed = new ByteArrayOutputStream(1 << 16);
      byte[] buffer = new byte[1 << 14];
      while (!deflater.finished()) {
        packed.write(buffer, 0, deflater.deflate(buffer));
      }
      return packed.toByteArray();
    }
  }

  /** An international text chunk: keyword, uncompressed, no language, UTF-8. */
  private static void text(ByteArrayOutputStream png, String keyword, String text) {
    byte[] key = keyword.getBytes(StandardCharsets.ISO_8859_1);
    byte[] value = text.getBytes(StandardCharsets.UTF_8);
    chunk(
        png,
        "iTXt",
        ByteBuffer.allocate(key.length + 5 + value.length)
            .put(key)
            .put(new byte[5])
            .put(value)
            .array());
  }

  private static void chunk(ByteArrayOutputStream png, String type, byte[] data) {
    byte[] name = type.getBytes(StandardCharsets.ISO_8859_1);
    CRC32 crc = new CRC32();
    crc.update(name);
    crc.update(data);
    png.writeBytes(ByteBuffer.allocate(4).putInt(data.length).array());
    png.writeBytes(name);
    png.writeBytes(data);
    png.writeBytes(ByteBuffer.allocate(4).putInt((int) crc.getValue()).array());
  }
}
