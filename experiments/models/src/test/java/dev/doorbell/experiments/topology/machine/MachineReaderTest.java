package dev.doorbell.experiments.topology.machine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.doorbell.core.fabric.timed.machine.Topology;
import dev.doorbell.core.problem.ConfigException;
import dev.doorbell.doctor.topology.PciDistance;
import dev.doorbell.experiments.topology.TopologyFile;
import dev.doorbell.experiments.topology.TopologyFile.MachineStands;
import dev.doorbell.experiments.topology.machine.MachineMap.MachineDevice;
import dev.doorbell.experiments.topology.machine.MachineMap.MachineDevice.Kind;
import dev.doorbell.experiments.topology.machine.MachineMap.MachineDevice.Link;
import java.io.IOException;
import java.net.URISyntaxException;
import java.net.URL;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Files written after the public formats. */
class MachineReaderTest {
  @TempDir private Path folder;

  private static final String NCCL =
      """
      <system version="1">
        <cpu host_hash="0x1" numaid="0" affinity="ffff" arch="x86_64" vendor="GenuineIntel">
          <pci busid="0000:15:00.0" class="0x060400" link_speed="32.0 GT/s PCIe" link_width="16">
            <pci busid="0000:18:00.0" class="0x030200" link_speed="32.0 GT/s PCIe" link_width="16">
              <gpu dev="0" sm="90" rank="0" gdr="1"/>
            </pci>
            <pci busid="0000:19:00.0" class="0x020700" link_speed="32.0 GT/s PCIe" link_width="16">
              <nic><net name="mlx5_0" dev="0" speed="400000" port="1" gdr="1"/></nic>
            </pci>
          </pci>
          <pci busid="0000:38:00.0" class="0x030200" link_speed="32.0 GT/s PCIe" link_width="8">
            <gpu dev="1" sm="90" rank="1" gdr="1"/>
          </pci>
          <nic><net name="eno1" dev="2" speed="10000" port="0"/></nic>
        </cpu>
        <cpu host_hash="0x1" numaid="1">
          <pci busid="0000:a0:00.0" class="0x060400" link_speed="16.0 GT/s PCIe" link_width="16">
            <pci busid="0000:a4:00.0" class="0x020700" link_speed="16.0 GT/s PCIe" link_width="16">
              <nic><net name="mlx5_1" dev="1" speed="200000" port="1" gdr="1"/></nic>
            </pci>
          </pci>
        </cpu>
      </system>
      """;

  private static final String SMI =
      """
      \tGPU0\tGPU1\tNIC0\tNIC1\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID
      GPU0\t X \tNV18\tPIX\tSYS\t0-47\t0\t\tN/A
      GPU1\tNV18\t X \tNODE\tSYS\t0-47\t0\t\tN/A
      NIC0\tPIX\tNODE\t X \tSYS\t\t\t\t
      NIC1\tSYS\tSYS\tSYS\t X \t\t\t\t

      Legend:

        X    = Self

      NIC Legend:

        NIC0: mlx5_0
        NIC1: mlx5_1
      """;

  private static final String LSTOPO =
      """
      <?xml version="1.0" encoding="UTF-8"?>
      <!DOCTYPE topology SYSTEM "hwloc2.dtd">
      <topology version="2.0">
        <object type="Machine" os_index="0">
          <object type="Package" os_index="0">
            <object type="NUMANode" os_index="0"/>
            <object type="Bridge" bridge_type="0-1">
              <object type="Bridge" bridge_type="1-1" pci_busid="0000:15:00.0">
                <object type="Bridge" bridge_type="1-1" pci_busid="0000:16:00.0">
                  <object type="PCIDev" pci_busid="0000:18:00.0" pci_type="0302 [10de:2335]" pci_link_speed="63.015385">
                    <object type="OSDev" name="cuda0" osdev_type="5"/>
                  </object>
                </object>
                <object type="Bridge" bridge_type="1-1" pci_busid="0000:16:01.0">
                  <object type="PCIDev" pci_busid="0000:19:00.0" pci_type="0207 [15b3:1021]" pci_link_speed="31.507692">
                    <object type="OSDev" name="ib0" osdev_type="2"/>
                    <object type="OSDev" name="mlx5_0" osdev_type="3"/>
                  </object>
                </object>
              </object>
            </object>
          </object>
          <object type="Package" os_index="1">
            <object type="NUMANode" os_index="1"/>
            <object type="Bridge" bridge_type="0-1">
              <object type="PCIDev" pci_busid="0000:a4:00.0" pci_type="0207 [15b3:1021]">
                <object type="OSDev" name="mlx5_1" osdev_type="3"/>
              </object>
            </object>
          </object>
        </object>
      </topology>
      """;

  private static MachineMap read(String format) throws ConfigException {
    return MachineReader.read("m", text(format));
  }

  private static String text(String format) {
    return switch (format) {
      case "nccl" -> NCCL;
      case "smi" -> SMI;
      default -> LSTOPO;
    };
  }

  @ParameterizedTest
  @CsvSource({
    "nccl,gpu0,mlx5_0,PIX",
    "nccl,gpu1,mlx5_0,PHB",
    "nccl,gpu0,mlx5_1,SYS",
    "smi,gpu0,mlx5_0,PIX",
    "smi,gpu1,mlx5_0,NODE",
    "smi,mlx5_1,gpu1,SYS",
    "lstopo,gpu0,mlx5_0,PIX",
    "lstopo,gpu0,mlx5_1,SYS"
  })
  void distances_are_those_of_the_file(String format, String from, String to, PciDistance distance)
      throws ConfigException {
    MachineMap map = read(format);
    assertThat(map.distance(map.device(from), map.device(to))).isEqualTo(distance);
  }

  @Test
  void a_matrix_whose_rows_of_nics_were_not_pasted_has_their_distances() throws ConfigException {
    MachineMap map =
        MachineReader.read(
            "t",
            """
                  GPU0  GPU1  NIC0  NIC1  CPU Affinity  NUMA Affinity
            GPU0   X    NV8   PIX   SYS   0-47,96-143   0
            GPU1  NV8    X    SYS   PIX   48-95         1

            Legend:
              X    = Self

            NIC Legend:
              NIC0: NIC0
            """);
    assertThat(map.devices()).extracting(MachineDevice::name).contains("NIC0", "NIC1").hasSize(4);
    assertThat(map.distance(map.device("NIC1"), map.device("gpu1"))).isEqualTo(PciDistance.PIX);
    assertThat(map.link(map.device("NIC0"), map.device("NIC1"))).isEqualTo("-");
    assertThat(
            catchThrowableOfType(
                ConfigException.class,
                () -> MachineReader.read("t", "GPU0 GPU1 NIC0\nGPU0 X NV8 PIX\n")))
        .as("the row of a GPU")
        .isNotNull();
  }

  @Test
  void a_numa_node_of_rocm_smi_that_is_no_number_is_unknown() throws ConfigException {
    String matrix =
        """
        ========================== Link Type between two GPUs ==========================
               GPU0         GPU1
        GPU0   0            XGMI
        GPU1   XGMI         0

        GPU[0]		: (Topology) Numa Node: NODE
        GPU[1]		: (Topology) Numa Node: 1
        """;
    for (String node : List.of("0", "99999999999999999999")) {
      MachineMap map = MachineReader.read("t", matrix.replace("NODE", node));
      assertThat(map.device("gpu0").numa()).isEqualTo(node.length() == 1 ? 0 : -1);
      assertThat(map.device("gpu1").numa()).isEqualTo(1);
    }
  }

  @Test
  void a_list_of_numa_nodes_begins_with_that_of_the_cpus() throws ConfigException {
    MachineMap map =
        MachineReader.read(
            "t",
            """
                  GPU0  GPU1  NIC0  CPU Affinity  NUMA Affinity  GPU NUMA ID
            GPU0   X    NV18  SYS   0-71          0,2-17         1
            GPU1  NV18   X    SYS   72-143        1,18-33        9
            NIC0  SYS   SYS    X
            """);
    assertThat(map.device("gpu0").numa()).isZero();
    assertThat(map.device("gpu1").numa()).isEqualTo(1);
  }

  @Test
  void nvlinks_to_the_switches_of_a_host_count_together() throws ConfigException {
    String gpu = "<pci busid='0000:%d:00.0'><gpu dev='%d'>%s</gpu></pci>";
    String link = "<nvlink target='0000:%d:00.0' count='%d' tclass='0x068000'/>";
    MachineMap map =
        MachineReader.read(
            "t",
            "<system version='1'><cpu numaid='0'>"
                + gpu.formatted(10, 0, link.formatted(65, 4) + link.formatted(61, 2))
                + gpu.formatted(11, 1, link.formatted(65, 6))
                + "</cpu></system>");
    assertThat(map.link(map.device("gpu0"), map.device("gpu1"))).isEqualTo("NV6");
  }

  @Test
  void what_is_odd_is_named() throws ConfigException {
    assertThat(read("nccl").findings())
        .anyMatch(text -> text.startsWith("gpu1 is trained at Gen5 x8"))
        .anyMatch(text -> text.startsWith("mlx5_1 is trained at Gen4 x16"))
        .contains("mlx5_1 is behind another socket than every GPU");
    assertThat(read("smi").findings()).anyMatch(text -> text.startsWith("gpu1 has no HCA"));
  }

  @ParameterizedTest
  @CsvSource({"nccl,h200-cx7,5,16", "smi,h200-cx7,5,16", "lstopo,h200-cx7,4,16"})
  void an_import_is_a_topology_with_the_machines_links(
      String format, String base, int generation, int lanes) throws Exception {
    MachineMap map = read(format);
    String text =
        ImportedTopology.text(map, map.device("gpu0"), map.device("mlx5_0"), "mine", "f.xml");
    Topology topology = TopologyFile.parse("mine.yaml", text);
    assertThat(topology.name()).isEqualTo("mine");
    assertThat(text).contains("prices of " + base);
    assertThat(TopologyFile.stands(written(text))).isEqualTo(new MachineStands(List.of(), ""));
    assertThat(text.substring(text.indexOf("name: nic-slot")))
        .contains("generation: " + generation)
        .contains("lanes: " + lanes);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "nccl | numaid=\"1\" | numaid=\"x\" | m:16 | numaid of <cpu> is 'x', no whole number",
        "nccl | busid=\"0000:a4:00.0\" |  | m:18 | <pci> has no busid",
        "nccl | link_width=\"8\" | link_width=\"99\" | m:11 | link_width is 99, not 1 to 32",
        "nccl | 16.0 GT/s PCIe | 17.0 GT/s PCIe | m:18 | which is no generation",
        "nccl | name=\"mlx5_1\" | name=\"mlx5_0\" | m:19 | a second mlx5_0",
        "nccl | </system> |  | m:2 | this is no XML",
        "nccl | <system version=\"1\"> | <machine> | m:24 | this is no XML",
        "nccl | <system version=\"1\"> | <!DOCTYPE d [<!ENTITY b \u001b> | m:1 | this is no XML",
        "smi | NV18\t X \tNODE\tSYS\t0-47\t0 | NV18 | m:3 | 2 distances of GPU1, of 4",
        "smi | NODE\tSYS\t0-47 | NEAR\tSYS\t0-47 | m:3 | 'NEAR' is no distance",
        "smi | NIC1\tSYS | NIC7\tSYS | m:5 | 'NIC7' where the row of NIC1 belongs",
        "smi | NIC0\tPIX | NIC0\tPXB | m:4 | mlx5_0 to gpu0 is PXB, back it is PIX",
        "smi | GPU0\tGPU1 | X\tY | m:3 | 'GPU1' where the row of GPU0 belongs",
        "lstopo | 63.015385 | fast | m:10 | pci_link_speed is 'fast', no number",
        "lstopo | type=\"Package\" os_index=\"1\" | os_index=\"1\" | m:23 | <object> has no type"
      })
  void an_odd_file_is_refused_by_line(
      String format, String of, String with, String where, String what) {
    String odd = text(format).replace(of, with == null ? "" : with);
    assertThat(odd).isNotEqualTo(text(format));
    ConfigException problem =
        catchThrowableOfType(ConfigException.class, () -> MachineReader.read("m", odd));
    assertThat(problem.problems().getFirst().what()).contains(what);
    assertThat(problem.problems().getFirst().code()).isEqualTo("DB-T020");
    if (!what.equals("this is no XML")) {
      assertThat(problem.problems().getFirst().where()).isEqualTo(where);
    }
  }

  @Test
  void a_text_that_is_no_matrix_is_refused() {
    ConfigException problem =
        catchThrowableOfType(ConfigException.class, () -> MachineReader.read("m", "hello"));
    assertThat(problem.problems().getFirst().what()).contains("neither XML nor a matrix");
  }

  @Test
  void an_empty_system_is_refused() {
    ConfigException problem =
        catchThrowableOfType(
            ConfigException.class, () -> MachineReader.read("m", "<system version=\"1\"/>"));
    assertThat(problem.problems().getFirst().what()).contains("no GPU and no HCA");
  }

  static List<String> dumps() throws IOException, URISyntaxException {
    URL folder = Objects.requireNonNull(MachineReaderTest.class.getResource("nccl"));
    try (Stream<Path> files = Files.list(Path.of(folder.toURI()))) {
      return files.map(Path::toString).sorted().toList();
    }
  }

  /** Their first line has distances: device, device, distance; and so on. */
  @ParameterizedTest
  @MethodSource("dumps")
  void dumps_of_nccl_import(String dump) throws Exception {
    String text = Files.readString(Path.of(dump));
    MachineMap map = MachineReader.read(dump, text);
    assertThat(map.format()).isEqualTo("NCCL topology");
    String expected = text.substring("<!--".length(), text.indexOf("-->")).strip();
    for (String line : Pattern.compile("; ").splitAsStream(expected).toList()) {
      List<String> words = Pattern.compile(" ").splitAsStream(line).toList();
      MachineDevice from = map.device(words.get(0));
      MachineDevice to = map.device(words.get(1));
      assertThat(map.distance(from, to)).as(line).isEqualTo(PciDistance.valueOf(words.get(2)));
      Topology topology =
          TopologyFile.load(written(ImportedTopology.text(map, from, to, "mine", "dump.xml")));
      assertThat(topology.path("gpu0", "nic0").nanos()).isPositive();
    }
  }

  private String written(String text) throws IOException {
    return Files.writeString(folder.resolve("mine.yaml"), text).toString();
  }

  @Test
  void a_cap_that_a_link_trained_low_undercuts_is_left_out() throws Exception {
    String text = Files.readString(Path.of(dumps().getFirst()));
    MachineMap map = MachineReader.read("m", text);
    MachineDevice gpu = map.device("gpu0");
    MachineDevice low =
        new MachineDevice("far \"x\"", Kind.HCA, "", 9, List.of(), new Link(3, 4), "");
    Topology topology =
        TopologyFile.load(written(ImportedTopology.text(map, gpu, low, "mine", "f.xml")));
    assertThat(topology.path("gpu0", "nic0").writeCap()).isZero();
  }

  @Test
  void efa_adapters_have_no_prices() throws Exception {
    String dump = dumps().stream().filter(file -> file.contains("efa")).findFirst().orElseThrow();
    MachineMap map = MachineReader.read(dump, Files.readString(Path.of(dump)));
    assertThat(map.of(Kind.HCA)).isNotEmpty().allMatch(ImportedTopology::isWithoutPrices);
    MachineMap other = MachineReader.read("m", Files.readString(Path.of(dumps().getFirst())));
    assertThat(other.of(Kind.HCA)).noneMatch(ImportedTopology::isWithoutPrices);
  }

  @Test
  void there_are_twenty_of_them() throws Exception {
    assertThat(dumps()).hasSize(20);
  }

  /** What is odd is refused with the line that it is in, whichever dump it is in. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "numaid=\"0\"|numaid=\"zero\"|numaid of <cpu> is 'zero', no whole number",
        "numaid=\"0\"|numa=\"0\"|<cpu> has no numaid",
        "gpu dev=\"0\"|gpu dev=\"\"|<gpu> has no dev",
        "net name=\"mlx5_0\"|net nick=\"mlx5_0\"|<net> has no name",
        "pci busid=|pci bus=|<pci> has no busid",
        "32.0 GT/s PCIe|fast|link_speed is 'fast'",
        "32.0 GT/s PCIe|33.0 GT/s PCIe|which is no generation of PCIe",
        "link_width=\"16\"|link_width=\"64\"|link_width is 64, not 1 to 32",
        "</system>|</systems>|this is no XML"
      })
  void what_is_odd_in_a_dump_is_refused_by_line(String what, String instead, String says)
      throws Exception {
    String text = Files.readString(Path.of(dumps().getFirst()));
    // Of a GPU, where it is the speed or the width of a link: those of bridges are not read.
    boolean link = what.startsWith("32") || what.startsWith("link");
    int at = text.indexOf(what, link ? text.indexOf("0x030200") : 0);
    assertThat(at).isPositive();
    String odd = text.substring(0, at) + instead + text.substring(at + what.length());
    ConfigException refused =
        catchThrowableOfType(ConfigException.class, () -> MachineReader.read("odd.xml", odd));
    long line = 1 + text.substring(0, at).chars().filter(c -> c == '\n').count();
    assertThat(refused.problems().getFirst().where()).isEqualTo("odd.xml:" + line);
    assertThat(refused.problems().getFirst().what()).contains(says);
  }
}
