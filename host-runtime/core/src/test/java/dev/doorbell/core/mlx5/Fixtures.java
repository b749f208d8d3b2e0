package dev.doorbell.core.mlx5;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;

/** The vector files beside the tests. */
final class Fixtures {
  private Fixtures() {}

  /** The lines of a file that are neither empty nor comments; headings of sections stay. */
  static List<String> lines(String name) {
    try (InputStream file = Fixtures.class.getResourceAsStream(name)) {
      if (file == null) {
        throw new IllegalStateException(name + " is not among the test resources");
      }
      return new String(file.readAllBytes(), StandardCharsets.UTF_8)
          .lines()
          .filter(line -> !line.isBlank() && !line.startsWith("# "))
          .toList();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
