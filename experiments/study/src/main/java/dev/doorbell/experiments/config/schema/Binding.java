package dev.doorbell.experiments.config.schema;

import com.fasterxml.jackson.annotation.JsonSetter;
import com.fasterxml.jackson.annotation.Nulls;
import java.util.LinkedHashMap;
import java.util.SequencedMap;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.MapperFeature;
import tools.jackson.databind.json.JsonMapper;

/**
 * Binds documents to records by Jackson, once a {@link SchemaChecker} has found them valid: its
 * problems have places and suggestions, Jackson's have not.
 */
public final class Binding {
  private static final JsonMapper MAPPER =
      JsonMapper.builder()
          .disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
          .enable(MapperFeature.ACCEPT_CASE_INSENSITIVE_ENUMS)
          .changeDefaultNullHandling(_ -> JsonSetter.Value.forValueNulls(Nulls.AS_EMPTY))
          .build();

  private Binding() {}

  /**
   * Returns the record of a valid node; a text, list or number that it leaves out is empty or 0.
   */
  public static <T> T of(Class<T> type, JsonNode node) {
    return MAPPER.treeToValue(node, type);
  }

  /** Returns the records of a mapping by name, in the order of the file; none of an absent one. */
  public static <T> SequencedMap<String, T> map(Class<T> type, JsonNode node) {
    SequencedMap<String, T> map = new LinkedHashMap<>();
    node.properties().forEach(entry -> map.put(entry.getKey(), of(type, entry.getValue())));
    return map;
  }
}
