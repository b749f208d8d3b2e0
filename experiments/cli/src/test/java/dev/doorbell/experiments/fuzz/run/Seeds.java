package dev.doorbell.experiments.fuzz.run;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Objects;

/** Well-formed inputs that come with the program. */
final class Seeds {
  private static final String FOLDER = "/dev/doorbell/experiments/fuzz/";

  private Seeds() {}

  /** Returns a file of the fuzz's own. */
  static byte[] file(String name) {
    return resource(FOLDER + name);
  }

  /** Returns a resource by its full path. */
  static byte[] resource(String path) {
    try (InputStream in = Seeds.class.getResourceAsStream(path)) {
      return Objects.requireNonNull(in, path).readAllBytes();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  static String text(byte[] input) {
    return new String(input, StandardCharsets.UTF_8);
  }
}
