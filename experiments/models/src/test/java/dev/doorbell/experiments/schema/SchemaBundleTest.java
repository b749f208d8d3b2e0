package dev.doorbell.experiments.schema;

import static org.assertj.core.api.Assertions.assertThat;

import com.networknt.schema.Error;
import com.networknt.schema.Schema;
import com.networknt.schema.SchemaRegistry;
import com.networknt.schema.SpecificationVersion;
import dev.doorbell.core.problem.ConfigException;
import dev.doorbell.experiments.topology.TopologyFile;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;
import tools.jackson.dataformat.yaml.YAMLMapper;

/** What editors complete and explain files by says what the program takes. */
class SchemaBundleTest {
  private static final YAMLMapper YAML = new YAMLMapper();
  private static final boolean WRITE = Boolean.getBoolean("doorbell.schema.write");

  @Test
  void the_bundle_is_made_of_the_schemas_as_they_are() throws IOException {
    if (WRITE) {
      Files.writeString(SchemaBundle.FILE, SchemaBundle.text());
    }
    assertThat(SchemaBundle.FILE)
        .as("fix it with ./doorbell test SchemaBundleTest -Ddoorbell.schema.write=true")
        .hasContent(SchemaBundle.text());
  }

  static Stream<Path> files() throws IOException {
    List<Path> files = new ArrayList<>();
    for (String folder :
        List.of(
            "configs",
            "topologies",
            "../kernels/src/main/resources/dev/doorbell/kernels/descriptors")) {
      try (Stream<Path> in = Files.list(Path.of(folder))) {
        in.filter(file -> file.toString().endsWith(".yaml")).sorted().forEach(files::add);
      }
    }
    return files.stream();
  }

  @ParameterizedTest
  @MethodSource("files")
  void every_file_that_comes_along_is_valid(Path file) throws IOException {
    assertThat(errors(Files.readString(file))).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        """
        experiment: a
        question: q
        kernel: k
        axes: { sise: 8 }
        measure: { metrics: [latency] }
        """,
        "name: t\ngpus: [{}]\n",
        "kernel: k\ndescription: d\nmeasures: everything\n",
        "faults: [{ do: loose }]\n",
        "something: else\n",
      })
  void a_file_that_is_wrong_is_not_valid(String text) throws IOException {
    assertThat(errors(text)).isNotEmpty();
  }

  @Test
  void editors_are_told_what_a_value_means() throws IOException {
    JsonNode path = bundle().at("/$defs/experiment/$defs/setting/path");
    assertThat(path.at("/markdownEnumDescriptions/0").asString())
        .isEqualTo("the HCA reads the WQE and then the payload from GPU memory");
    assertThat(path.at("/description").asString()).isNotBlank();
  }

  /** A key of a topology that its schema has and the reader does not, or the other way round. */
  @Test
  void what_the_schema_of_topologies_demands_the_program_demands(@TempDir Path folder)
      throws IOException, ConfigException {
    ObjectNode sound = (ObjectNode) YAML.readTree(TopologyFile.text("same-switch"));
    JsonNode schema =
        JsonMapper.shared().readTree(Files.readString(Path.of("schema/topology.schema.json")));
    for (String part : List.of("gpu", "cpu", "nic")) {
      for (JsonNode key : schema.at("/$defs/%s/required".formatted(part))) {
        ObjectNode lacking = sound.deepCopy();
        ((ObjectNode) lacking.get(part + "s").get(0)).remove(key.asString());
        assertThat(problems(folder, lacking))
            .as(key.asString())
            .contains("key '" + key.asString() + "' is missing");
        assertThat(errors(YAML.writeValueAsString(lacking))).as(key.asString()).isNotEmpty();
      }
    }
    for (String part :
        List.of("/gpus/0", "/cpus/0", "/nics/0", "/links/0", "/paths/0", "/network", "")) {
      ObjectNode more = sound.deepCopy();
      ((ObjectNode) more.at(part)).put("surprise_ns", 1);
      assertThat(problems(folder, more)).as(part).contains("surprise_ns");
      assertThat(errors(YAML.writeValueAsString(more))).as(part).isNotEmpty();
    }
  }

  @Test
  void what_the_schema_of_topologies_allows_the_program_takes(@TempDir Path folder)
      throws IOException, ConfigException {
    ObjectNode every = (ObjectNode) YAML.readTree(TopologyFile.text("same-switch"));
    ObjectNode link = (ObjectNode) every.at("/links/0");
    link.put("address_bits", 64).put("ecrc", true);
    link.putObject("posted_credits").put("headers", 64).put("data", 1024).put("return_ns", 300);
    ObjectNode path = (ObjectNode) every.at("/paths/0");
    path.put("peer_reads", true).put("read_cap_gb_s", 6).put("write_cap_gb_s", 14);
    path.put("strict_write_cap_gb_s", 10).put("relaxed_ordering", false).put("jitter_ns", 5);
    assertThat(problems(folder, every)).isEmpty();
    assertThat(errors(YAML.writeValueAsString(every))).isEmpty();
  }

  private static String problems(Path folder, ObjectNode topology) throws IOException {
    Path file = folder.resolve("changed.yaml");
    Files.writeString(file, YAML.writeValueAsString(topology));
    try {
      TopologyFile.load(file.toString());
      return "";
    } catch (ConfigException e) {
      return e.problems().toString();
    }
  }

  private static JsonNode bundle() throws IOException {
    return JsonMapper.shared().readTree(Files.readString(SchemaBundle.FILE));
  }

  private static List<String> errors(String text) throws IOException {
    Schema schema =
        SchemaRegistry.withDefaultDialect(SpecificationVersion.DRAFT_2020_12).getSchema(bundle());
    return schema.validate(YAML.readTree(text)).stream().map(Error::toString).toList();
  }
}
