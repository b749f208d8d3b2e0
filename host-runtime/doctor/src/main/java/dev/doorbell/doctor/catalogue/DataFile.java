package dev.doorbell.doctor.catalogue;

import dev.doorbell.core.Resources;
import java.util.List;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.MapperFeature;
import tools.jackson.databind.type.CollectionType;
import tools.jackson.dataformat.yaml.YAMLMapper;

/** Reads the lists that are data of this module: YAML files beside the classes that use them. */
public final class DataFile {
  private static final YAMLMapper YAML =
      YAMLMapper.builder()
          .enable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
          .enable(MapperFeature.ACCEPT_CASE_INSENSITIVE_ENUMS)
          .build();

  private DataFile() {}

  /**
   * Reads a list of records from the resource {@code name} beside {@code owner}.
   *
   * @throws tools.jackson.core.JacksonException when an entry has an unknown key, or its record
   *     refuses it
   */
  public static <T> List<T> list(Class<?> owner, String name, Class<T> entry) {
    CollectionType type = YAML.getTypeFactory().constructCollectionType(List.class, entry);
    return YAML.readValue(Resources.text(owner, name), type);
  }
}
