package dev.doorbell.experiments.cli.command;

import tools.jackson.databind.SerializationFeature;
import tools.jackson.databind.json.JsonMapper;

/** Prints values as JSON for programs to read. */
public final class Json {
  private static final JsonMapper MAPPER =
      JsonMapper.builder().enable(SerializationFeature.INDENT_OUTPUT).build();

  private Json() {}

  public static void print(CommandContext context, Object value) {
    context.out().print(text(value));
  }

  /** Indented JSON that ends in a newline, on every system the same. */
  public static String text(Object value) {
    return MAPPER.writeValueAsString(value).replace(System.lineSeparator(), "\n") + "\n";
  }
}
