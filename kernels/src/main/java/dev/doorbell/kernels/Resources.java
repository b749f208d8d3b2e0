package dev.doorbell.kernels;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.zip.GZIPInputStream;

/** Reads text files beside the classes of this package; PTX is stored compressed. */
final class Resources {
  private Resources() {}

  static String text(String name) {
    boolean compressed = name.endsWith(".ptx");
    String stored = compressed ? name + ".gz" : name;
    try (InputStream in = Resources.class.getResourceAsStream(stored)) {
      if (in == null) {
        throw new IllegalStateException(
            "dev/doorbell/kernels/%s is missing from the class path; rebuild the jar"
                .formatted(stored));
      }
      InputStream text = compressed ? new GZIPInputStream(in, 1 << 16) : in;
      return new String(text.readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
