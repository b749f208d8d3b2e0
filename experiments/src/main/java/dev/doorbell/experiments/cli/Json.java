package dev.doorbell.experiments.cli;

import tools.jackson.databind.SerializationFeature;
import tools.jackson.databind.json.JsonMapper;

/** Prints values as JSON for programs to read. */
final class Json {
  private static final JsonMapper MAPPER =
      JsonMapper.builder().enable(SerializationFeature.INDENT_OUTPUT).build();

  private Json() {}

  static void print(Context context, Object value) {
    context.terminal().out().println(MAPPER.writeValueAsString(value));
  }
}
