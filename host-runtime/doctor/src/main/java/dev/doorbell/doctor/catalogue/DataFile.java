package dev.doorbell.doctor.catalogue;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.Objects;
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
    try (InputStream in = owner.getResourceAsStream(name)) {
      return YAML.readValue(Objects.requireNonNull(in, name), type);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
