package dev.doorbell.experiments.run;

import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.SerializationFeature;
import tools.jackson.databind.json.JsonMapper;

/** How a run's records become JSON: a newer Doorbell's extra fields do not stop an older one. */
final class RunJson {
  static final JsonMapper MAPPER =
      JsonMapper.builder().disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES).build();

  private static final JsonMapper PRETTY =
      MAPPER.rebuild().enable(SerializationFeature.INDENT_OUTPUT).build();

  private RunJson() {}

  /** Indented JSON that ends in a newline, the same bytes on every system. */
  static String pretty(Object value) {
    return PRETTY.writeValueAsString(value).replace(System.lineSeparator(), "\n") + "\n";
  }
}
