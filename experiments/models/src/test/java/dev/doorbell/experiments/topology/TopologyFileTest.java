package dev.doorbell.experiments.topology;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.doorbell.core.fabric.timed.machine.GpuPrices;
import dev.doorbell.core.fabric.timed.machine.Network;
import dev.doorbell.core.fabric.timed.machine.NicPrices;
import dev.doorbell.core.fabric.timed.machine.Topology;
import dev.doorbell.core.fabric.timed.machine.Topology.Constant;
import dev.doorbell.core.problem.ConfigException;
import dev.doorbell.core.problem.Problem;
import dev.doorbell.experiments.topology.TopologyFile.MachineStands;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

class TopologyFileTest {
  static List<String> names() {
    return TopologyFile.names();
  }

  @ParameterizedTest
  @MethodSource("names")
  void every_packaged_topology_reads_and_every_constant_has_a_source(String name) throws Exception {
    Topology topology = TopologyFile.load(name);
    assertThat(topology.name()).isEqualTo(name);
    assertThat(topology.constants()).hasSizeGreaterThan(30);
    assertThat(topology.constants())
        .filteredOn(constant -> constant.origin() != Constant.Origin.ASSUMED)
        .allSatisfy(constant -> assertThat(constant.source()).isNotBlank());
    assertThat(topology.constants()).extracting(Constant::key).doesNotHaveDuplicates();
  }

  @ParameterizedTest
  @MethodSource("names")
  void a_packet_of_infiniband_has_as_many_bytes_in_the_closed_forms_as_on_the_wire(String name)
      throws Exception {
    Network network = TopologyFile.load(name).network();
    int withBth = 82 - network.framing().lessThanEthernet();
    assertThat(network.packetOverhead()).isIn(0, withBth);
    assertThat(withBth).isIn(82, 28);
  }

  @Test
  void the_round_topologies_have_the_latencies_that_their_comments_say() throws Exception {
    Topology pix = TopologyFile.load("round-pix");
    assertThat(pix.path("gpu0", "nic0").nanos()).isEqualTo(250);
    assertThat(pix.path("gpu0", "cpu0").nanos()).isEqualTo(450);
    assertThat(pix.path("cpu0", "nic0").nanos()).isEqualTo(350);
    Topology sys = TopologyFile.load("round-sys");
    assertThat(sys.path("gpu0", "nic0").nanos()).isEqualTo(900);
    assertThat(sys.path("gpu0", "nic0").readCap()).isEqualTo(6.1);
  }

  @Test
  void names_that_are_no_names_of_files_and_bridges_that_are_doubled_are_refused() {
    assertThat(refused(text -> text.replace("name: round-pix", "name: ../../etc/x")))
        .anySatisfy(problem -> assertThat(problem).contains("'../../etc/x', and must be a name"));
    assertThat(refused(text -> text.replaceFirst("(?m)^bridges: \\[(\\w+)", "bridges: [$1, $1")))
        .anySatisfy(problem -> assertThat(problem).contains("DB-T003", "components or bridges"));
  }

  @Test
  void a_hop_without_a_link_is_told_once_and_without_empty_names() {
    assertThat(refused(text -> text.replaceFirst("\\{link: \\w+, ", "{")))
        .hasSize(1)
        .noneMatch(problem -> problem.contains("''"));
  }

  private static List<String> refused(UnaryOperator<String> edit) {
    try {
      String text = TopologyFile.text("round-pix");
      assertThat(edit.apply(text)).isNotEqualTo(text);
      TopologyFile.parse("mine.yaml", edit.apply(text));
      return List.of();
    } catch (ConfigException e) {
      return e.problems().stream().map(Problem::text).toList();
    }
  }

  @Test
  void a_file_is_read_by_its_path(@TempDir Path folder) throws Exception {
    Path file = folder.resolve("mine.yaml");
    Files.writeString(file, TopologyFile.text("round-pix").replace("round-pix", "mine"));
    assertThat(TopologyFile.load(file.toString()).name()).isEqualTo("mine");
  }

  @Test
  void a_constant_may_be_fitted_to_rows_and_a_topology_names_whose_rows(@TempDir Path folder)
      throws Exception {
    String text =
        TopologyFile.text("round-pix")
            .replace("fence_ns: 200", "fence_ns: {value: 200, source: \"fitted to koc.cqe\"}")
            .replace("bridges:", "rows: [P-IB, H200]\nleft_out: median 9 %\nbridges:");
    assertThat(TopologyFile.parse("t.yaml", text).constants())
        .contains(new Constant("gpu0.fence_ns", 200, "ns", Constant.Origin.FITTED, "koc.cqe"));
    Path file = Files.writeString(folder.resolve("t.yaml"), text);
    assertThat(TopologyFile.stands(file.toString()))
        .isEqualTo(new MachineStands(List.of("P-IB", "H200"), "median 9 %"));
    assertThat(TopologyFile.stands("round-pix")).isEqualTo(new MachineStands(List.of(), ""));
  }

  @Test
  void a_constant_is_exchanged_within_its_limits() throws Exception {
    assertThat(TopologyFile.load("h200-cx7", Map.of("gpu0.fence_ns", 300.5)).gpus().getFirst())
        .extracting(GpuPrices::fence)
        .isEqualTo(300.5);
    assertThat(TopologyFile.load("h200-cx7", Map.of("nic0.max_read_request_bytes", 1024.0)).nics())
        .extracting(NicPrices::maxReadRequest)
        .containsExactly(1024);
    for (String key : List.of("gpu0.load_sector_bytes", "nic0.read_tags")) {
      assertThat(
              catchThrowableOfType(
                  ConfigException.class, () -> TopologyFile.load("h200-cx7", Map.of(key, 25.5))))
          .as(key)
          .isNotNull();
    }
  }

  @Test
  void a_misspelt_name_is_answered_with_the_nearest_one() {
    assertThat(problems("same-swich"))
        .singleElement()
        .satisfies(p -> assertThat(p.text()).contains("DB-T001").contains("'same-switch'"));
  }

  @Test
  void a_missing_file_and_one_that_is_no_text_are_problems(@TempDir Path folder) throws Exception {
    assertThat(problems(folder.resolve("none.yaml").toString()))
        .singleElement()
        .satisfies(p -> assertThat(p.text()).contains("no such file"));
    Path binary = folder.resolve("binary.yaml");
    Files.write(binary, new byte[] {(byte) 0xff, (byte) 0xfe, 0, 1});
    assertThat(problems(binary.toString()))
        .singleElement()
        .satisfies(p -> assertThat(p.text()).contains("UTF-8"));
  }

  /** Each row changes one thing of a good file, at a line that is known. */
  @ParameterizedTest(name = "{3}")
  @CsvSource(
      delimiter = '|',
      value = {
        "strong_load_ns: 1 | strong_lod_ns: 1 | DB-C010 | unknown key 'strong_lod_ns' in gpus  -"
            + " did you mean 'strong_load_ns'",
        "strong_load_ns: 1 | # | DB-C011 | key 'strong_load_ns' is missing",
        "fence_ns: 200 | fence_ns: fast | DB-C013 | fence_ns must be a number, and 'fast' is a text",
        "fence_ns: 200 | fence_ns: -1 | DB-C014 | fence_ns -1 is out of range (at least 0)",
        "fence_ns: 200 | fence_ns: 2e9 | DB-C014 | out of range (at most 1000000000)",
        "fence_ns: 200 | fence_ns: {value: 2e9, source: assumed} | DB-C014 | out of range (at most"
            + " 1000000000)",
        "fence_ns: 200 | fence_ns: [1] | DB-C013 | fence_ns must be a number",
        "fence_ns: 200 | fence_ns: .nan | DB-C013 | fence_ns must be a number",
        "fence_ns: 200 | fence_ns: {value: 200, source: guessed} | DB-C015 | source is 'guessed',"
            + " and must be 'measured here: ...', 'fitted to ...', 'cited: ...' or 'assumed: ...'",
        "fence_ns: 200 | fence_ns: {value: 200, source: cited} | DB-C015 | source is 'cited'",
        "fence_ns: 200 | fence_ns: {value: 200, sorce: cited} | DB-C010 | did you mean 'source'",
        "store_granule_bytes: 128 | store_granule_bytes: 96 | DB-C020 | is not a power of two in its"
            + " range (16 32 64 128)",
        "max_read_request_bytes: 512 | max_read_request_bytes: 8192 | DB-C020 | power of two",
        "max_read_request_bytes: 512 | max_read_request_bytes: {value: 8192, source: assumed} |"
            + " DB-C020 | power of two",
        "generation: 4 | generation: 7 | DB-C020 | generation 7 is not a generation of PCIe",
        "lanes: 16 | lanes: 12 | DB-C020 | power of two",
        "generation: 4 | rate_gb_s: 4 | DB-C010 | unknown key 'lanes'",
        "generation: 4, | ecrc: false, | DB-C011 | key 'generation' is missing",
        "ends: [gpu0, switch0] | ends: [gpu0, swich0] | DB-T010 | 'swich0' is neither a component"
            + " nor one of the bridges  - did you mean 'switch0'",
        "ends: [gpu0, switch0] | ends: [gpu0, gpu0] | DB-T010 | a link has two different ends",
        "{link: gpu-slot, ns: 175}, {link: nic-slot | {link: gpu-slto, ns: 175}, {link: nic-slot |"
            + " DB-T012 | there is no link 'gpu-slto'  - did you mean 'gpu-slot'",
        "{link: gpu-slot, ns: 175}, {link: nic-slot | {link: uplink, ns: 175}, {link: nic-slot |"
            + " DB-T012 | the path is at gpu0 here, and link 'uplink' joins switch0 and cpu0:"
            + " nothing gets across",
        "{link: gpu-slot, ns: 175}, {link: nic-slot, ns: 75} | {link: gpu-slot, ns: 175} | DB-T012"
            + " | the path ends at switch0 and should reach nic0",
        "between: [gpu0, nic0] | between: [gpu0, cpu0] | DB-T011 | there is a path between gpu0 and"
            + " cpu0 already",
        "between: [gpu0, nic0] | between: [gpu0, gpu0] | DB-T011 | a path lies between two"
            + " components",
        "name: nic-slot, ends | name: gpu-slot, ends | DB-T003 | there are two links 'gpu-slot'",
        "network: { | netwrok: { | DB-C010 | did you mean 'network'",
        "bridges: [switch0] | bridges: switch0 | DB-C013 | bridges must be a list",
        "description: | name: twice # | DB-C003 | key 'name' is given twice",
        "bridges: [switch0] | bridges: [switch0 | DB-C002 | not YAML",
        "source: | # | DB-T007 | has no source",
      })
  void what_is_wrong_is_said_with_its_place(String good, String bad, String code, String message)
      throws Exception {
    String text = TopologyFile.text("round-pix");
    assertThat(text).contains(good);
    String broken =
        text.replaceFirst("(?m)(?<!# )" + Pattern.quote(good), Matcher.quoteReplacement(bad));
    ConfigException failure =
        catchThrowableOfType(ConfigException.class, () -> TopologyFile.parse("bad.yaml", broken));
    assertThat(failure).isNotNull();
    assertThat(failure.problems())
        .anySatisfy(
            p -> {
              assertThat(p.code()).isEqualTo(code);
              assertThat(p.what()).contains(message);
              assertThat(p.where()).matches("bad\\.yaml:\\d+:\\d+");
            });
  }

  @Test
  void the_place_of_a_problem_is_line_and_column() throws Exception {
    String text = TopologyFile.text("round-pix").replace("fence_ns: 200", "fence_ns: soon");
    int line = (int) text.substring(0, text.indexOf("fence_ns: soon")).lines().count();
    ConfigException failure =
        catchThrowableOfType(ConfigException.class, () -> TopologyFile.parse("t.yaml", text));
    assertThat(failure.problems().getFirst().where())
        .isEqualTo("t.yaml:%d:%d".formatted(line, "    fence_ns: ".length() + 1));
  }

  @Test
  void all_problems_are_told_at_once_in_the_order_of_the_file() throws Exception {
    String text =
        TopologyFile.text("round-pix")
            .replace("fence_ns: 200", "fence_ns: a")
            .replace("post_ns: 80", "post_ns: b")
            .replace("latency_ns: 1000", "latency_ns: c");
    ConfigException failure =
        catchThrowableOfType(ConfigException.class, () -> TopologyFile.parse("t.yaml", text));
    assertThat(failure.problems())
        .extracting(Problem::what)
        .satisfiesExactly(
            what -> assertThat(what).contains("'a'"),
            what -> assertThat(what).contains("'b'"),
            what -> assertThat(what).contains("'c'"));
  }

  @Test
  void a_topology_without_a_path_for_doorbells_is_explained() throws Exception {
    String text = TopologyFile.text("round-pix");
    int start = text.indexOf("  - between: [gpu0, nic0]");
    int end = text.indexOf("  - between: [gpu0, cpu0]");
    String without = text.substring(0, start) + text.substring(end);
    ConfigException failure =
        catchThrowableOfType(ConfigException.class, () -> TopologyFile.parse("t.yaml", without));
    assertThat(failure.problems())
        .extracting(Problem::what)
        .containsExactly(
            "no path between gpu0 and nic0: nothing carries its doorbells and the HCA's reads");
  }

  @Test
  void an_empty_file_and_two_documents_are_refused() {
    assertThat(parseProblems("")).singleElement().extracting(Problem::code).isEqualTo("DB-C004");
    assertThat(parseProblems("a: 1\n---\nb: 2\n"))
        .singleElement()
        .extracting(Problem::code)
        .isEqualTo("DB-C002");
    assertThat(parseProblems("- 1\n")).isNotEmpty();
    assertThat(parseProblems("{".repeat(200))).isNotEmpty();
  }

  private static List<Problem> parseProblems(String text) {
    return catchThrowableOfType(ConfigException.class, () -> TopologyFile.parse("bad.yaml", text))
        .problems();
  }

  private static List<Problem> problems(String name) {
    return catchThrowableOfType(ConfigException.class, () -> TopologyFile.load(name)).problems();
  }
}
