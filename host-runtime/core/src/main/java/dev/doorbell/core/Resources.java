package dev.doorbell.core;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;

/** Files that are packed beside classes. */
public final class Resources {
  private Resources() {}

  /**
   * Returns the text of a file in UTF-8.
   *
   * @param owner a class of the package that a relative name starts from
   * @throws IllegalStateException where the build has left the file out
   */
  public static String text(Class<?> owner, String name) {
    try (InputStream in = owner.getResourceAsStream(name)) {
      if (in == null) {
        throw new IllegalStateException("the build left out " + name);
      }
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
