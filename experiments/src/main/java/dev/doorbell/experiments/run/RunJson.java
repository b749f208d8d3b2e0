package dev.doorbell.experiments.run;

import java.io.IOException;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.SerializationFeature;
import tools.jackson.databind.exc.UnrecognizedPropertyException;
import tools.jackson.databind.json.JsonMapper;

/**
 * How a run's records become JSON and are read again. An unknown key is refused: what a newer
 * version means by it may change what the rest says.
 */
final class RunJson {
  static final JsonMapper MAPPER =
      JsonMapper.builder()
          .enable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
          .addModule(new RecordsByReflection())
          .build();

  private static final JsonMapper PRETTY =
      MAPPER.rebuild().enable(SerializationFeature.INDENT_OUTPUT).build();

  private RunJson() {}

  /**
   * Reads bytes that this Doorbell, or an older one, wrote.
   *
   * @throws IOException with the reason in a sentence
   */
  static <T> T read(byte[] bytes, int start, int length, Class<T> type) throws IOException {
    try {
      T read = MAPPER.readValue(bytes, start, length, type);
      if (read == null) {
        throw new IOException("it is null");
      }
      return read;
    } catch (JacksonException e) {
      throw new IOException(reason(e), e);
    }
  }

  private static String reason(JacksonException e) {
    if (e instanceof UnrecognizedPropertyException unknown) {
      return "the key '%s' is unknown; a newer Doorbell may have written it"
          .formatted(unknown.getPropertyName());
    }
    return e.getOriginalMessage().lines().findFirst().orElse("not JSON");
  }

  /** Indented JSON that ends in a newline, the same bytes on every system. */
  static String pretty(Object value) {
    return PRETTY.writeValueAsString(value).replace(System.lineSeparator(), "\n") + "\n";
  }
}
