package dev.doorbell.experiments.cli;

import tools.jackson.databind.SerializationFeature;
import tools.jackson.databind.json.JsonMapper;

/** Prints values as JSON for programs to read. */
final class Json {
  private static final JsonMapper MAPPER =
      JsonMapper.builder().enable(SerializationFeature.INDENT_OUTPUT).build();

  private Json() {}

  static void print(Context context, Object value) {
    context.terminal().out().print(text(value));
  }

  /** Indented JSON that ends in a newline, on every system the same. */
  static String text(Object value) {
    return MAPPER.writeValueAsString(value).replace(System.lineSeparator(), "\n") + "\n";
  }
}
